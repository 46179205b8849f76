import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';

const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
const sourceFolders = ['../workflows/', '../domain/'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

/**
 * The workflows as one script, as every worker loads it. Bundling takes one to three seconds, so the result is cached
 * in a folder under the hash of its inputs.
 *
 * @param cacheFolder created if missing; undefined: no cache
 */
export async function workflowBundle(cacheFolder: string | undefined): Promise<WorkflowBundleWithSourceMap> {
  const bundle = () => bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  if (cacheFolder === undefined) return bundle();
  const file = path.join(cacheFolder, await workflowBundleName());
  try {
    return { code: await readFile(file, 'utf8'), sourceMap: '' };
  } catch {
    const made = await bundle();
    await mkdir(cacheFolder, { recursive: true });
    await writeFile(`${file}.${process.pid}`, made.code);
    await rename(`${file}.${process.pid}`, file);
    return made;
  }
}

/** Name of the bundle's file in the folder of the cache. */
export const workflowBundleName = async (): Promise<string> => `workflows-${await contentHash()}.js`;

async function contentHash(): Promise<string> {
  const hash = createHash('sha256');
  // The bundle must be made by the SDK version that runs it.
  hash.update(await readFile(createRequire(import.meta.url).resolve('@temporalio/workflow/package.json')));
  for (const folder of sourceFolders)
    for (const name of (await readdir(folder)).filter((each) => each.endsWith('.ts')).sort())
      hash.update(name).update(await readFile(path.join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}
