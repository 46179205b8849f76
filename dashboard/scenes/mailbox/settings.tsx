import { type FormEvent, useState } from 'react';
import { Problem } from '../../api/client.ts';
import { Choice, Field, LongField } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { type MailboxAction, MailboxActionDialog } from './actions.tsx';
import { metadataOf, metadataText } from './metadata-text.ts';
import { type Mailbox, useUpdateMailbox } from './queries.ts';

const UNAUTHENTICATED = [
  ['junk', 'Move it to Junk'],
  ['inbox', 'Deliver it to the inbox, with a label'],
  ['reject', 'Refuse it'],
] as const;

/** What can be changed about a mailbox, and what ends it. */
export function MailboxSettings({
  mailbox,
  onToken,
}: {
  readonly mailbox: Mailbox;
  readonly onToken: (token: string) => void;
}) {
  const [action, setAction] = useState<MailboxAction>();
  const suspended = mailbox.status === 'suspended';
  return (
    <div className="grid max-w-2xl gap-6">
      <Details mailbox={mailbox} />
      <section aria-labelledby="actions" className="grid rounded-lg border border-line bg-panel">
        <h2 id="actions" className="border-b border-line px-4 py-3">
          Token, suspension, deletion
        </h2>
        <ActionRow
          title="Rotate the first token"
          sentence="For a token that was lost, or seen by somebody else. Connections with the old one are closed."
          button="Rotate token"
          onAsk={() => setAction('rotate')}
        />
        <ActionRow
          title={suspended ? 'Resume the mailbox' : 'Suspend the mailbox'}
          sentence={
            suspended
              ? 'It receives and sends mail again.'
              : 'Mail to it is refused, nothing is sent, and its tokens are refused until a person resumes it.'
          }
          button={suspended ? 'Resume' : 'Suspend'}
          onAsk={() => setAction('suspend')}
        />
        <ActionRow
          title="Delete the mailbox"
          sentence="With its mail, its token and its webhook endpoints. This cannot be undone."
          button="Delete"
          stop
          onAsk={() => setAction('delete')}
        />
      </section>
      <MailboxActionDialog mailbox={mailbox} action={action} onClose={() => setAction(undefined)} onToken={onToken} />
    </div>
  );
}

interface ActionRowProps {
  readonly title: string;
  readonly sentence: string;
  readonly button: string;
  readonly stop?: boolean;
  readonly onAsk: () => void;
}

function ActionRow({ title, sentence, button, stop = false, onAsk }: ActionRowProps) {
  return (
    <div className="flex flex-wrap items-center gap-3 border-t border-line px-4 py-3 first-of-type:border-t-0">
      <div className="min-w-0 flex-1 basis-64">
        <p className="font-medium">{title}</p>
        <p className="text-muted">{sentence}</p>
      </div>
      <Button look={stop ? 'stop' : 'plain'} onClick={onAsk}>
        {button}
      </Button>
    </div>
  );
}

function Details({ mailbox }: { readonly mailbox: Mailbox }) {
  const update = useUpdateMailbox(mailbox.id);
  const problem = update.error instanceof Problem ? update.error : undefined;
  const [unreadable, setUnreadable] = useState<string>();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const metadata = metadataOf(textOfField(form, 'metadata'));
    if (typeof metadata === 'string') {
      setUnreadable(metadata);
      return;
    }
    setUnreadable(undefined);
    const purpose = textOfField(form, 'purpose').trim().replaceAll('\r\n', '\n');
    const group = textOfField(form, 'group').trim();
    const chosen = textOfField(form, 'unauthenticatedMail');
    update.mutate({
      name: textOfField(form, 'name').trim(),
      purpose: purpose === '' ? null : purpose,
      metadata,
      group: group === '' ? null : group,
      unauthenticatedMail: UNAUTHENTICATED.find(([value]) => value === chosen)?.[0] ?? 'junk',
    });
  };
  return (
    <form onSubmit={submit} aria-label="Settings" className="grid gap-4 rounded-lg border border-line bg-panel p-4">
      <ProblemNote error={update.error} />
      <Field
        label="Display name"
        name="name"
        defaultValue={mailbox.name}
        required
        autoComplete="off"
        error={problem?.about('/name')}
        hint="Recipients see it beside the address."
      />
      <LongField
        label="Purpose"
        name="purpose"
        defaultValue={mailbox.purpose ?? ''}
        rows={2}
        error={problem?.about('/purpose')}
        hint="What the agent may write about. Approvers see it beside the agent’s mail."
      />
      <Field
        label="Group"
        name="group"
        defaultValue={mailbox.group ?? ''}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        error={problem?.about('/group')}
        hint="Optional, like support. API keys can be limited to groups."
      />
      <LongField
        label="Metadata"
        name="metadata"
        defaultValue={metadataText(mailbox.metadata)}
        rows={3}
        className="font-mono text-[13px]"
        error={unreadable ?? problem?.about('/metadata')}
        hint="Your own keys, one per line: team = orders"
      />
      <Choice
        label="Mail that fails DMARC"
        name="unauthenticatedMail"
        defaultValue={mailbox.unauthenticatedMail}
        hint="When the domain of the sender asks receivers to quarantine or reject it."
      >
        {UNAUTHENTICATED.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </Choice>
      <div className="flex items-center justify-end gap-3">
        <p role="status" className="text-ok">
          {update.isSuccess ? 'Saved' : ''}
        </p>
        <Button type="submit" look="primary" busy={update.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
