/** `mailboxes tokens`, `create-token` and `revoke-token`. */
import type { Command } from 'commander';
import { choice, given, requireYes, said, withOrganization } from '#cli/organization-command.ts';
import { recordText, tableText } from '#cli/record-text.ts';
import type { NewMailboxToken } from '#client/index.ts';

type Access = NonNullable<NewMailboxToken['access']>;

const ACCESSES: readonly Access[] = ['full', 'read', 'send'];

export function addMailboxTokenCommands(mailboxes: Command): void {
  mailboxes
    .command('tokens')
    .description('List the tokens of a mailbox')
    .argument('<id>', 'mbx_…')
    .action(
      withOrganization(async ({ service, args: [id = ''] }) => {
        const tokens = await service.mailboxes.tokens(id);
        const columns = ['id', 'name', 'access', 'tokenHint', 'lastUsedAt', 'expiresAt'];
        return { value: { data: tokens }, text: () => tableText(tokens, columns, 'Every token is revoked.') };
      }),
    );
  mailboxes
    .command('create-token')
    .description('Create another token of a mailbox, which is shown only once')
    .argument('<id>', 'mbx_…')
    .argument('<name>', 'which program uses it')
    .addOption(choice('--access <access>', 'read: changes and sends nothing; send: reads nothing', ACCESSES))
    .option('--expires <time>', 'ISO 8601; default: never')
    .action(
      withOrganization<{ access?: Access; expires?: string }>(
        async ({ service, args: [id = '', name = ''], options: { access, expires: expiresAt } }) => {
          const token = await service.mailboxes.createToken(id, { name, ...given({ access, expiresAt }) });
          const { name: itsName, access: itsAccess, token: secret } = token;
          return {
            value: token,
            text: () =>
              `${recordText({ id: token.id, name: itsName, access: itsAccess, token: secret })}\n\nThe token is not shown again.`,
          };
        },
      ),
    );
  mailboxes
    .command('revoke-token')
    .description('Revoke a token of a mailbox at once')
    .argument('<id>', 'mbx_…')
    .argument('<token-id>', 'tok_…')
    .option('--yes', 'confirm the revocation')
    .action(
      withOrganization<{ yes?: true }>(async ({ service, args: [id = '', tokenId = ''], options }) => {
        requireYes(options, `${tokenId} ends at once, for every protocol.`);
        await service.mailboxes.revokeToken(id, tokenId);
        return said({ id: tokenId, revoked: true }, `${tokenId} is revoked.`);
      }),
    );
}
