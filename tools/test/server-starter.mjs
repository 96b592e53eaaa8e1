// Starts a server that does nothing, and tells the processes and the directory of it.
import { makeDirectory, Server } from "../../services/server.mjs";

const directory = makeDirectory("starter");
const launch = { name: "sleep", directory, command: "sleep", args: ["1000"] };
const server = await Server.start(launch);
console.log(JSON.stringify({ pid: process.pid, server: server.pid, directory }));
