/** versitygw, a real S3 server over a folder, with signatures checked. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { programFile } from './programs.ts';
import { testPort } from './test-port.ts';
import { waitUntil } from './wait-until.ts';

const BUCKET = 'mail';
const ACCESS = 'test-access';
const SECRET = 'test-secret-of-the-object-storage';

export interface ObjectStorage {
  readonly url: string;
  /** S3_* for a process. */
  readonly settings: Readonly<Record<string, string>>;
  /** Paths of the objects in the bucket. */
  files(): string[];
  close(): Promise<void>;
}

export async function startObjectStorage(): Promise<ObjectStorage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'objects-'));
  const [root, sidecar] = [path.join(folder, 'root'), path.join(folder, 'sidecar')];
  for (const each of [path.join(root, BUCKET), sidecar]) mkdirSync(each, { recursive: true });
  const port = await testPort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    programFile('versitygw'),
    [
      '--port',
      `127.0.0.1:${port}`,
      '--access',
      ACCESS,
      '--secret',
      SECRET,
      '--quiet',
      'posix',
      '--sidecar',
      sidecar,
      root,
    ],
    { stdio: 'ignore' },
  );
  const closed = once(child, 'close');
  await waitUntil(
    'versitygw',
    () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    30_000,
  );
  return {
    url,
    settings: {
      S3_ENDPOINT: url,
      S3_BUCKET: BUCKET,
      S3_PREFIX: 'of-tests/',
      S3_ACCESS_KEY_ID: ACCESS,
      S3_SECRET_ACCESS_KEY: SECRET,
    },
    files: () =>
      readdirSync(path.join(root, BUCKET), { recursive: true, encoding: 'utf8' })
        .map((name) => path.join(root, BUCKET, name))
        .filter((file) => statSync(file).isFile()),
    async close() {
      child.kill();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
