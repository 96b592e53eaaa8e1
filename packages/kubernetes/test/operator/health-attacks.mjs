// Attacks the health server at a port until it is killed: node health-attacks.mjs NAME PORT
import { connect } from "node:net";

const [name, port] = process.argv.slice(2);
const METRICS = "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n";
const READY = "GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n";

/** Keeps a connection: as soon as it is closed, the next one is opened. */
function keep(attack) {
  const socket = connect(Number(port), "127.0.0.1");
  const timer = attack(socket);
  socket.on("error", () => {});
  socket.on("close", () => {
    clearInterval(timer);
    setTimeout(() => keep(attack), 20);
  });
}

const attacks = {
  /** 4,000 requests at once on one connection, and no response is read. */
  pipelined: () => keep((socket) => void socket.pause().write(METRICS.repeat(4_000))),

  /** 100 connections with a request every second: they stay open, and hardly ask. */
  quiet: () =>
    many((socket) => {
      socket.resume().write(READY);
      return setInterval(() => socket.write(READY), 1_000);
    }),

  /** 100 connections with a byte of a header every second. */
  slow: () =>
    many((socket) => {
      socket.resume().write("GET /readyz HTTP/1.1\r\nx: ");
      return setInterval(() => socket.write("x"), 1_000);
    }),

  /** 100 connections that ask for a long response and read none of it. */
  unread: () => many((socket) => void socket.pause().write(METRICS)),

  /** 100 connections that ask again as soon as they have their response. */
  scrapes: () =>
    many((socket) => {
      socket.write(METRICS);
      let bytes = 0;
      socket.on("data", ({ length }) => {
        bytes += length;
        if (bytes < 1_000_000) return;
        bytes = 0;
        socket.write(METRICS);
      });
    }),
};

function many(attack) {
  for (let index = 0; index < 100; index++) keep(attack);
}

attacks[name]();
