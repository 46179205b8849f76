import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Expiration, Expires, expiryOf } from '../../components/forms/expiration.tsx';
import { Choice, Field, Form, LongField, type Typed } from '../../components/forms/form.tsx';
import { type RetentionField, RetentionFields, retentionOf } from '../../components/forms/retention.tsx';
import { SaveRow } from '../../components/forms/settings.tsx';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { aboutField } from '../../problem.ts';
import { Aliases } from './aliases.tsx';
import { type Mailbox, useDeleteMailbox, useRotateToken, useUpdateMailbox } from './queries.ts';

const AS_ORGANIZATION = 'organization';
const SCREENING = [
  [AS_ORGANIZATION, 'As the organization'],
  ['off', 'Nothing'],
  ['suspicious', 'Suspicious mail'],
  ['first_senders', 'Suspicious mail, and mail of unknown senders'],
] as const;
const CARRIED = [
  [AS_ORGANIZATION, 'As the organization'],
  ['hold', 'Waits for a person'],
  ['refuse', 'Is refused'],
  ['off', 'Is sent'],
] as const;
const TAGS = [
  ['yes', 'Reaches the mailbox'],
  ['no', 'Is refused'],
] as const;
const CANARY = [
  ['no', 'None'],
  ['yes', 'A planted message in the inbox'],
] as const;
const UNAUTHENTICATED = [
  ['junk', 'Move it to Junk'],
  ['inbox', 'Deliver it to the inbox, with a label'],
  ['reject', 'Refuse it'],
] as const;

interface MailboxSettingsProps {
  readonly mailbox: Mailbox;
  readonly onToken: (token: string) => void;
}

/** What can be changed about a mailbox, and what ends it. */
export function MailboxSettings({ mailbox, onToken }: MailboxSettingsProps) {
  const [action, setAction] = useState<'rotate' | 'suspend' | 'delete'>();
  const asked = { mailbox, onClose: () => setAction(undefined) };
  const suspended = mailbox.status === 'suspended';
  return (
    <div className="grid max-w-2xl gap-6">
      <Details mailbox={mailbox} />
      <Keeping mailbox={mailbox} />
      <Aliases mailbox={mailbox} />
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
      {action === 'rotate' ? <Rotate {...asked} onToken={onToken} /> : null}
      {action === 'suspend' ? <Suspend {...asked} /> : null}
      {action === 'delete' ? <Delete {...asked} /> : null}
    </div>
  );
}

const OWN = 'own';
const RETENTION = [
  [AS_ORGANIZATION, 'As the organization'],
  [OWN, 'Its own days'],
] as const;

/** When the mailbox ends, and how long its mail is kept. */
function Keeping({ mailbox }: { readonly mailbox: Mailbox }) {
  const update = useUpdateMailbox(mailbox.id);
  const [rule, setRule] = useState<'organization' | 'own'>(mailbox.retention === null ? AS_ORGANIZATION : OWN);
  const [wrong, setWrong] = useState<RetentionField>();
  const submit = (typed: Typed) => {
    const retention = rule === OWN ? retentionOf(typed) : null;
    if (typeof retention === 'string') {
      setWrong(retention);
      return;
    }
    setWrong(undefined);
    const expiresAt = expiryOf(typed, Date.now());
    update.mutate({ retention, ...(expiresAt === undefined ? {} : { expiresAt }) });
  };
  return (
    <Form
      onSubmit={submit}
      aria-label="Expiry and retention"
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <div>
        <h2>Expiry and retention</h2>
        <p className="text-muted">
          <Expires at={mailbox.expiresAt} />. From then on the mailbox is refused everywhere; 14 days later it is
          deleted with its mail.
        </p>
      </div>
      <ProblemNote error={update.error} />
      <Expiration mayStay error={aboutField(update.error, '/expiresAt')} />
      <Choice label="Mail is kept" name="rule" value={rule} options={RETENTION} onChoose={setRule} />
      {rule === OWN ? <RetentionFields retention={mailbox.retention} wrong={wrong} /> : null}
      <SaveRow done={update.isSuccess ? 'Saved' : ''} busy={update.isPending}>
        Save the times
      </SaveRow>
    </Form>
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
  const about = (path: string) => aboutField(update.error, path);
  const [unreadable, setUnreadable] = useState<string>();
  const submit = (typed: Typed) => {
    const metadata = metadataOf(typed('metadata'));
    if (typeof metadata === 'string') {
      setUnreadable(metadata);
      return;
    }
    setUnreadable(undefined);
    const purpose = typed('purpose').trim().replaceAll('\r\n', '\n');
    const group = typed('group').trim();
    const chosen = typed('unauthenticatedMail');
    const screening = SCREENING.find(([value]) => value === typed('screening'))?.[0] ?? AS_ORGANIZATION;
    const carried = CARRIED.find(([value]) => value === typed('carriedMail'))?.[0] ?? AS_ORGANIZATION;
    const minutes = typed('askAfterReadingMinutes').trim();
    update.mutate({
      name: typed('name').trim(),
      purpose: purpose === '' ? null : purpose,
      metadata,
      group: group === '' ? null : group,
      unauthenticatedMail: UNAUTHENTICATED.find(([value]) => value === chosen)?.[0] ?? 'junk',
      screening: screening === AS_ORGANIZATION ? null : screening,
      carriedMail: carried === AS_ORGANIZATION ? null : carried,
      askAfterReadingMinutes: minutes === '' ? null : Number(minutes),
      canary: typed('canary') === 'yes',
      plusAddresses: typed('plusAddresses') === 'yes',
    });
  };
  return (
    <Form onSubmit={submit} aria-label="Settings" className="grid gap-4 rounded-lg border border-line bg-panel p-4">
      <ProblemNote error={update.error} />
      <Field
        label="Display name"
        name="name"
        defaultValue={mailbox.name}
        required
        autoComplete="off"
        error={about('/name')}
        hint="Recipients see it beside the address."
      />
      <LongField
        label="Purpose"
        name="purpose"
        defaultValue={mailbox.purpose ?? ''}
        rows={2}
        error={about('/purpose')}
        hint="What the agent may write about. Approvers see it beside the agent’s mail."
      />
      <Field
        label="Group"
        name="group"
        defaultValue={mailbox.group ?? ''}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        error={about('/group')}
        hint="Optional, like support. API keys can be limited to groups."
      />
      <LongField
        label="Metadata"
        name="metadata"
        defaultValue={metadataText(mailbox.metadata)}
        rows={3}
        className="font-mono text-[13px]"
        error={unreadable ?? about('/metadata')}
        hint="Your own keys, one per line: team = orders"
      />
      <Choice
        label="Mail that fails DMARC"
        name="unauthenticatedMail"
        defaultValue={mailbox.unauthenticatedMail}
        options={UNAUTHENTICATED}
        hint="When the domain of the sender asks receivers to quarantine or reject it."
      />
      <Choice
        label="Arriving mail that is held"
        name="screening"
        defaultValue={mailbox.screening ?? AS_ORGANIZATION}
        options={SCREENING}
        hint="The agent does not see it until somebody releases it."
      />
      <Choice
        label="Mail that carries other mail"
        name="carriedMail"
        defaultValue={mailbox.carriedMail ?? AS_ORGANIZATION}
        options={CARRIED}
        hint="Text, codes or files of mail that the recipients neither wrote nor got."
      />
      <Field
        label="Minutes of approval after mail of an unknown sender"
        name="askAfterReadingMinutes"
        type="number"
        min={0}
        max={1440}
        defaultValue={mailbox.askAfterReadingMinutes ?? ''}
        placeholder="as the organization"
        error={about('/askAfterReadingMinutes')}
        hint="So long after the agent read it, mail to anybody else waits for a person."
      />
      <Choice
        label="Mail to the address with a tag"
        name="plusAddresses"
        defaultValue={mailbox.plusAddresses ? 'yes' : 'no'}
        options={TAGS}
        hint={`Like ${mailbox.localPart}+shop@${mailbox.domain}. Tags with an alias of their own work in any case.`}
      />
      <Choice
        label="Canary"
        name="canary"
        defaultValue={mailbox.canary ? 'yes' : 'no'}
        options={CANARY}
        hint="A planted message that nobody needs. If its text is about to leave, sending stops."
      />
      <div className="flex items-center justify-end gap-3">
        <p role="status" className="text-ok">
          {update.isSuccess ? 'Saved' : ''}
        </p>
        <Button type="submit" look="primary" busy={update.isPending}>
          Save
        </Button>
      </div>
    </Form>
  );
}

interface Asked {
  readonly mailbox: Mailbox;
  readonly onClose: () => void;
}

function Rotate({ mailbox, onClose, onToken }: Asked & { readonly onToken: (token: string) => void }) {
  const rotate = useRotateToken(mailbox.id);
  const made = ({ token }: { readonly token: string | null }) => {
    if (token !== null) onToken(token);
    onClose();
  };
  return (
    <Confirm
      title="Rotate the token?"
      consequence="The first token stops working at once for the API, CLI, MCP, IMAP, POP3 and SMTP, and its connections are closed. Other tokens stay."
      action="Rotate token"
      look="primary"
      cancel={false}
      change={rotate}
      onConfirm={() => rotate.mutate(undefined, { onSuccess: made })}
      onClose={onClose}
    />
  );
}

function Suspend({ mailbox, onClose }: Asked) {
  const update = useUpdateMailbox(mailbox.id);
  const suspended = mailbox.status === 'suspended';
  return (
    <Confirm
      title={suspended ? 'Resume the mailbox?' : 'Suspend the mailbox?'}
      consequence={
        suspended
          ? 'It receives and sends mail again.'
          : 'Mail to it is refused, nothing is sent, and its tokens are refused by the API, CLI, MCP and every mail protocol. Its mail is kept, and people can read it here. Only a person can resume it.'
      }
      action={suspended ? 'Resume' : 'Suspend'}
      look={suspended ? 'primary' : 'stop'}
      cancel={false}
      change={update}
      onConfirm={() => update.mutate({ status: suspended ? 'active' : 'suspended' }, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

function Delete({ mailbox, onClose }: Asked) {
  const remove = useDeleteMailbox(mailbox.id);
  const navigate = useNavigate();
  return (
    <Confirm
      title="Delete the mailbox?"
      consequence={`Its ${mailbox.quota.messageCount.toLocaleString()} messages, its token and its webhook endpoints are deleted. This cannot be undone, and the address is not given out again for 30 days.`}
      action="Delete the mailbox and its mail"
      cancel={false}
      typed={mailbox.address}
      change={remove}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/mailboxes' }) })}
      onClose={onClose}
    />
  );
}

/** Metadata as lines of `key = value`, which people can type. */
const metadataText = (metadata: Readonly<Record<string, string>>): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${key} = ${value}`)
    .join('\n');

/** @returns the metadata, or the error in the text */
function metadataOf(text: string): Record<string, string> | string {
  const metadata: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const at = line.indexOf('=');
    const key = line.slice(0, at).trim();
    if (at < 0 || key === '') return `“${line.trim()}” is not of the form key = value.`;
    metadata[key] = line.slice(at + 1).trim();
  }
  return metadata;
}
