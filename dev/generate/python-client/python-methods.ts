/** Which route each method of the Python package asks, read from its files; a test runs the methods and compares. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonName } from './schema-as-python.ts';

const ASYNC = fileURLToPath(new URL('../../../python/src/agent_mailbox/_async', import.meta.url));
const OWN_MAILBOX = '/api/mailbox';
/** The classes that are not `service.<name>.`. */
const PREFIXES: Readonly<Record<string, string>> = {
  Mailbox: 'mailbox.',
  MailboxClient: 'mailbox.',
  Files: 'mailbox.files.',
  FilesClient: 'mailbox.files.',
  Device: 'device.',
  OrganizationClient: 'service.',
};

interface PythonMethod {
  /** `service.mailboxes.create`. */
  readonly name: string;
  /** `POST /api/mailboxes/{id}/rotate-token`. */
  readonly asks: string;
}

const STEP =
  /^class Async(?<owner>\w+)|^ {4}(?:async )?def (?<method>\w+)|request(?:_of)?\(\s*"(?<verb>[A-Z]+)",\s*"(?<path>\/[^"]*)"/gm;

function* methodsIn(text: string): Generator<PythonMethod> {
  let [prefix, method] = ['', ''];
  for (const { groups = {} } of text.matchAll(STEP)) {
    const { owner, verb } = groups;
    if (owner !== undefined)
      prefix = PREFIXES[owner] ?? `service.${pythonName(owner.charAt(0).toLowerCase() + owner.slice(1))}.`;
    else if (verb === undefined) method = groups['method'] ?? '';
    else yield { name: prefix + method, asks: `${verb} ${groups['path']}` };
  }
}

/** Method names by what they ask, `GET /api/mailboxes/{id}`; of a mailbox both by its token and by a key. */
export function pythonMethods(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const add = (asks: string, name: string): void => void found.set(asks, [...(found.get(asks) ?? []), name].toSorted());
  for (const file of readdirSync(ASYNC).filter((name) => name.endsWith('.py')))
    for (const { name, asks } of methodsIn(readFileSync(path.join(ASYNC, file), 'utf8'))) {
      add(asks, name);
      const own = new RegExp(` ${OWN_MAILBOX}(?=/|$)`);
      if (own.test(asks))
        add(asks.replace(own, ` ${OWN_MAILBOX}es/{id}`), name.replace(/^mailbox\./, 'service.mailbox(id).'));
    }
  return found;
}
