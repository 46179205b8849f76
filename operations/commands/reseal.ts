/** `reseal`: seals all secrets again with the newest key, so that older keys can be removed. */
import { sealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { reseal } from '#core/reseal/reseal.ts';
import { command } from '#operations/command.ts';

const POOL_MAX = 2;

export const resealCommand = command({
  name: 'reseal',
  summary: 'seal all secrets with the newest of SECRETS_KEYS',
  description:
    'Seals all secrets in the database again with the newest key, the first of SECRETS_KEYS, and reports which of the others can be removed. Findings: a key that is still needed, or a value that cannot be opened.',
  arguments: {},
  options: {},
  async run(context) {
    const { SECRETS_KEYS } = context.settings('DATABASE_URL', 'SECRETS_KEYS');
    const secrets = sealedSecrets(SECRETS_KEYS);
    const db = await context.database(POOL_MAX);
    const { resealed, failures, left } = await context.progress.step(
      `Sealing with key "${secrets.newestKeyId}"`,
      (note) => reseal({ db, secrets }, { signal: context.signal, onProgress: (count) => note(`${count} values`) }),
    );
    const unused = secrets.keyIds.slice(1).filter((id) => !left.has(id));
    context.output(
      { newestKey: secrets.newestKeyId, resealed, failures, stillNeeded: Object.fromEntries(left), unused },
      [
        `${resealed} values were sealed again with key "${secrets.newestKeyId}".`,
        ...failures.map((failure) => `could not be opened: ${failure}`),
        ...[...left].map(([id, count]) =>
          secrets.keyIds.includes(id)
            ? `Key "${id}" is still needed by ${count} values: keep it and run this again.`
            : `Key "${id}" is not in SECRETS_KEYS, but ${count} values need it: add it after the first and run this again.`,
        ),
        ...unused.map(
          (id) =>
            `Key "${id}" is not used any more. Once every process runs with "${secrets.newestKeyId}" in front, it can be removed from SECRETS_KEYS.`,
        ),
      ].join('\n'),
    );
    if (context.signal.aborted) return 'failed';
    return left.size > 0 ? 'findings' : 'done';
  },
});
