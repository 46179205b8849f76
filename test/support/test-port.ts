/**
 * Ports for servers that are started, stopped and started again. The ports that the system chooses are no use for that:
 * any connection of any program may take one between two starts.
 */
import { portProblem } from '#dev/launcher/free-port.ts';

/** Below the ports that systems give to outgoing connections (Linux: from 32768, others: from 49152). */
const FIRST = 10_240;
const PER_PROCESS = 128;
const PROCESSES = 170;

let taken = 0;

/**
 * A port on loopback that nobody listens on, and that only a program which asks for this very number can take: this
 * process gets it once, and processes with other ids use other ranges.
 *
 * @throws when 128 of them were not enough
 */
export async function testPort(): Promise<number> {
  while (taken < PER_PROCESS) {
    const port = FIRST + (process.pid % PROCESSES) * PER_PROCESS + taken++;
    if ((await portProblem(port)) === undefined) return port;
  }
  throw new Error(`this process has used its ${PER_PROCESS} ports`);
}
