import type { ExecuteHost, Host, Item, NodeDescription } from '../../n8n-interfaces.ts';
import { CREDENTIAL, mailboxChoices } from '../../service.ts';
import { fields } from './fields.ts';
import { runOperation } from './operations.ts';

/** Mail of one mailbox: reads, writes, waits. */
export class AgentMailbox {
  description: NodeDescription = {
    displayName: 'Agent Mailbox',
    name: 'agentMailbox',
    icon: { light: 'file:../../icons/agentMailbox.svg', dark: 'file:../../icons/agentMailbox.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Send, read, search and wait for mail as an agent',
    defaults: { name: 'Agent Mailbox' },
    inputs: ['main'],
    outputs: ['main'],
    usableAsTool: true,
    credentials: [{ name: CREDENTIAL, required: true }],
    properties: fields,
  };

  methods = {
    loadOptions: {
      getMailboxes(this: Host) {
        return mailboxChoices(this);
      },
    },
  };

  async execute(this: ExecuteHost): Promise<Item[][]> {
    const results: Item[] = [];
    for (const [index] of this.getInputData().entries()) {
      const pairedItem = { item: index };
      try {
        results.push(...(await runOperation(this, index)).map((each) => ({ ...each, pairedItem })));
      } catch (error) {
        if (!this.continueOnFail()) throw error;
        results.push({ json: { error: error instanceof Error ? error.message : String(error) }, pairedItem });
      }
    }
    return [results];
  }
}
