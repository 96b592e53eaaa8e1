import { afterEach, expect, it, vi } from "vitest";
import { eventLoop } from "../../src/testing/event-loop.ts";
import { WaiterWatch } from "../../src/testing/waiter-watch.ts";

const cancel = vi.fn();
const poll = vi.spyOn(eventLoop, "watch").mockReturnValue(cancel);

afterEach(() => vi.clearAllMocks());

it("polls once for all pending calls, until the last resolves", async () => {
  const subject = { needsPolling: true, size: 0 };
  const watch = new WaiterWatch(subject);
  const waits = [watch.wait(1, {}), watch.wait(2, {})];
  expect(poll).toHaveBeenCalledTimes(1);

  subject.size = 1;
  watch.check();
  await waits[0];
  expect(cancel).not.toHaveBeenCalled();

  subject.size = 2;
  watch.check();
  await waits[1];
  expect(cancel).toHaveBeenCalledTimes(1);

  void watch.wait(3, {});
  expect(poll).toHaveBeenCalledTimes(2);
});

it("does not poll a time that announces every timer", async () => {
  const subject = { needsPolling: false, size: 0 };
  const watch = new WaiterWatch(subject);
  const wait = watch.wait(1, {});
  subject.size = 1;
  watch.check();
  await wait;
  expect(poll).not.toHaveBeenCalled();
});

it("does not count while no call is pending", () => {
  const size = vi.fn(() => 0);
  const subject = {
    needsPolling: false,
    get size() {
      return size();
    },
  };
  new WaiterWatch(subject).check();
  expect(size).not.toHaveBeenCalled();
});
