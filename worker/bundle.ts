import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';

const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
const sourceFolders = ['../workflows/', '../domain/'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
const BUILT = fileURLToPath(new URL('dist', import.meta.url));

/**
 * The workflows as one script, as every worker loads it, in `worker/dist` under the hash of its inputs. The image contains
 * it. In a clone, the first worker bundles it, which takes one to three seconds.
 *
 * @throws in an image whose sources were changed: it contains no bundler
 */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  const file = path.join(BUILT, `workflows-${await contentHash()}.js`);
  if (existsSync(file)) return { codePath: file };
  const made = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  try {
    await mkdir(BUILT, { recursive: true });
    await writeFile(`${file}.${process.pid}`, made.code);
    await rename(`${file}.${process.pid}`, file);
  } catch {
    return made; // Nothing can be written there: the next start bundles again.
  }
  return { codePath: file };
}

async function contentHash(): Promise<string> {
  const hash = createHash('sha256');
  // The bundle must be made by the SDK version that runs it.
  hash.update(await readFile(createRequire(import.meta.url).resolve('@temporalio/workflow/package.json')));
  for (const folder of sourceFolders)
    for (const name of (await readdir(folder)).filter((each) => each.endsWith('.ts')).sort())
      hash.update(name).update(await readFile(path.join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}
