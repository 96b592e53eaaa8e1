// Checked by the compiler only: nothing here runs.
import { fromObservable, type Source, type Subscribable } from "@holdfast/controller";
import { BehaviorSubject, type Observable, of, Subject } from "rxjs";
import { expectTypeOf } from "vitest";

interface Event {
  readonly id: number;
}

declare const subscribable: Subscribable<Event>;
declare const observable: Observable<Event>;

expectTypeOf(fromObservable("x", new Subject<Event>())).toEqualTypeOf<Source<Event>>();
expectTypeOf(fromObservable("x", new BehaviorSubject({ id: 1 }))).toEqualTypeOf<
  Source<{ id: number }>
>();
expectTypeOf(fromObservable("x", observable)).toEqualTypeOf<Source<Event>>();
expectTypeOf(fromObservable("x", of(1, 2))).toEqualTypeOf<Source<number>>();
expectTypeOf(fromObservable("x", new Subject<string | number>())).toEqualTypeOf<
  Source<string | number>
>();
expectTypeOf(fromObservable("x", new Subject<string>())).toEqualTypeOf<Source<string>>();
expectTypeOf(fromObservable("x", subscribable)).toEqualTypeOf<Source<Event>>();

// @ts-expect-error: the events are numbers
fromObservable<string>("x", new Subject<number>());
