import { portProblem } from '#dev/free-port.ts';

/** Below the ports that the system gives to outgoing connections, one of which could take the port of a killed server. */
const FIRST = 20_000;
const LAST = 32_000;

let next = FIRST + Math.floor(Math.random() * (LAST - FIRST));

/** A loopback port for a server that is to be started again on the same port. */
export async function serverPort(): Promise<number> {
  for (;;) {
    next = next >= LAST ? FIRST : next + 1;
    const port = next; // while we wait others ask for the ports after it
    if ((await portProblem(port)) === undefined) return port;
  }
}
