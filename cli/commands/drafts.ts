/** `drafts`. */
import type { Command } from 'commander';
import { uploadAttachments } from '#cli/attachments.ts';
import { collect, given, type LetterOptions, type ListOptions, pageOf, withListOptions } from '#cli/command.ts';
import { print, printRows, printSubmitted, printUntrusted, recordText } from '#cli/output.ts';
import { type GlobalOptions, openSession } from '#cli/session.ts';
import { safeText } from '#cli/terminal-text.ts';
import type { Draft, MailboxClient, NewDraft } from '#client/index.ts';

interface Fields extends LetterOptions {
  readonly inReplyTo?: string;
  readonly replyAll?: true;
}

/** Uploads what is to be attached. */
async function fieldsOf(
  client: MailboxClient,
  { from, to, cc, bcc, subject, text, html, attach, sendAt }: Fields,
): Promise<NewDraft> {
  const attachments = attach === undefined ? undefined : await uploadAttachments(client, attach);
  return given({ from, to, cc, bcc, subject, text, html, attachments, sendAt });
}

const withFields = (command: Command): Command =>
  command
    .option('--from <alias>', 'alias to write as')
    .option('--to <address>', 'recipient; may be repeated', collect)
    .option('--cc <address>', 'copy to; may be repeated', collect)
    .option('--bcc <address>', 'blind copy to; may be repeated', collect)
    .option('--subject <text>', 'subject')
    .option('--text <text>', 'the text')
    .option('--html <html>', 'the text as HTML')
    .option('--attach <file>', 'file to attach; may be repeated', collect)
    .option('--send-at <time>', 'time to send it once it is submitted, ISO 8601');

function draftText({ id, to, cc, bcc, subject, attachments, sendAt, text }: Draft): string {
  const names = attachments.map(({ filename, contentType }) => filename ?? contentType);
  return [recordText({ id, to, cc, bcc, subject, attachments: names, sendAt }), '', safeText(text ?? '')].join('\n');
}

export function addDraftCommands(program: Command): void {
  const drafts = program.command('drafts').description('Messages that are not sent yet');
  withListOptions(drafts.command('list').description('List drafts, newest first')).action(
    async (_, command: Command) => {
      const options = command.optsWithGlobals<ListOptions & GlobalOptions>();
      const page = await openSession(options).client.listDrafts(pageOf(options));
      printRows(options, page, ['id', 'updatedAt', 'to', 'subject'], 'There is no draft.');
    },
  );
  drafts
    .command('show')
    .description('Show a draft')
    .argument('<id>', 'drf_…')
    .action(async (id: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const draft = await openSession(options).client.getDraft(id);
      printUntrusted(options, draft, () => draftText(draft));
    });
  withFields(drafts.command('create').description('Save a draft'))
    .option('--in-reply-to <message>', 'msg_… that it answers')
    .option('--reply-all', 'to all recipients of that message')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<Fields>();
      const { client } = openSession(options);
      const { inReplyTo, replyAll } = options;
      const draft = await client.createDraft({
        ...(await fieldsOf(client, options)),
        ...given({ inReplyTo, replyAll }),
      });
      printUntrusted(options, draft, () => draftText(draft));
    });
  withFields(drafts.command('update').description('Change a draft'))
    .argument('<id>', 'drf_…')
    .action(async (id: string, _, command: Command) => {
      const options = command.optsWithGlobals<Fields>();
      const { client } = openSession(options);
      const draft = await client.updateDraft(id, await fieldsOf(client, options));
      printUntrusted(options, draft, () => draftText(draft));
    });
  drafts
    .command('send')
    .description('Send a draft. A message held for approval is not a failure: do not send it again')
    .argument('<id>', 'drf_…')
    .option('--send-at <time>', 'another time, ISO 8601')
    .action(async (id: string, _, command: Command) => {
      const options = command.optsWithGlobals<Fields>();
      printSubmitted(options, await openSession(options).client.sendDraft(id, given({ sendAt: options.sendAt })));
    });
  drafts
    .command('delete')
    .description('Delete a draft')
    .argument('<id>', 'drf_…')
    .action(async (id: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      await openSession(options).client.deleteDraft(id);
      print(options, { id, deleted: true }, () => `${id} is deleted.`);
    });
}
