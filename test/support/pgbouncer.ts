/** PgBouncer before a server, as a test's own program. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { accepts, freePort } from '#dev/launcher/free-port.ts';
import { programFile } from './programs.ts';
import { waitUntil } from './wait-until.ts';

export interface PgBouncer {
  /** Address of the same database behind it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Its defaults, apart from the mode. @param url of the database, with a password */
export async function startPgBouncer(url: string, { mode }: { mode: 'session' | 'transaction' }): Promise<PgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const folder = mkdtempSync(path.join(tmpdir(), 'pgbouncer-'));
  const ownPort = await freePort();
  const users = path.join(folder, 'users.txt');
  writeFileSync(users, `"${username}" "${password}"\n`);
  const configuration = path.join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${ownPort}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
  ];
  writeFileSync(configuration, `${lines.join('\n')}\n`);
  chmodSync(folder, 0o755);
  const isRoot = process.getuid?.() === 0;
  const child = spawn(programFile('pgbouncer'), ['-q', ...(isRoot ? ['-u', 'nobody'] : []), configuration], {
    stdio: 'ignore',
  });
  await once(child, 'spawn');
  await waitUntil('PgBouncer to listen', () => accepts('127.0.0.1', ownPort));
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${ownPort}${pathname}`,
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
