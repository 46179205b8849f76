/** Aliases: an address of its own for each service that the agent signs up with. */
import Type from 'typebox';
import type { Alias } from '#client/index.ts';
import { AliasesOutput, AliasOutput, DeletedOutput } from './output-schemas.ts';
import { answer, closed, LIST_DEFAULT, pageInput, READS, type Tool, tool } from './tool.ts';

const shown = ({ id, address, note, senders, otherwise, lockToFirst, enabled, expiresAt }: Alias) => ({
  id,
  address,
  note,
  senders,
  otherwise,
  lockToFirst,
  enabled,
  expiresAt,
});

export const aliasTools: readonly Tool[] = [
  tool({
    name: 'list_aliases',
    title: 'List your aliases',
    description: 'Your further addresses, newest first: for whom each is, and who may write to it.',
    annotations: READS,
    needs: 'read',
    output: AliasesOutput,
    input: Type.Object(pageInput, closed),
    async run(client, { limit = LIST_DEFAULT, cursor }, call) {
      const page = await client.listAliases({ limit, ...(cursor === undefined ? {} : { cursor }) }, call);
      return answer({ aliases: page.data.map(shown), nextCursor: page.nextCursor });
    },
  }),
  tool({
    name: 'create_alias',
    title: 'Create an alias',
    description:
      'Makes a further address of your mailbox, such as one for each service that you sign up with, which you can drop later. It is random, unless you choose the part before the @. Mail to it comes to your mailbox; replies to it leave from it.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    needs: 'change',
    output: AliasOutput,
    input: Type.Object(
      {
        note: Type.Optional(Type.String({ description: 'For whom it is, such as “for shop.example”.' })),
        localPart: Type.Optional(Type.String({ description: 'Part before the @; default: a random one.' })),
        senders: Type.Optional(
          Type.Array(Type.String(), { description: 'Addresses and domains whose mail it takes; default: everybody.' }),
        ),
        otherwise: Type.Optional(
          Type.Enum(['refuse', 'hold'], { description: 'What happens to mail of others; default: refuse.' }),
        ),
        lockToFirst: Type.Optional(
          Type.Boolean({ description: 'The first author who writes to it becomes its list of senders.' }),
        ),
        expiresAt: Type.Optional(Type.String({ description: 'From then on it is refused, ISO 8601.' })),
      },
      closed,
    ),
    run: async (client, alias, call) => answer(shown(await client.createAlias(alias, call))),
  }),
  tool({
    name: 'drop_alias',
    title: 'Drop an alias',
    description: 'Mail to the address is refused from then on. You can only drop aliases that you made.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    needs: 'change',
    output: DeletedOutput,
    input: Type.Object({ aliasId: Type.String({ description: 'Id of an alias, als_….' }) }, closed),
    async run(client, { aliasId }, call) {
      await client.dropAlias(aliasId, call);
      return answer({ id: aliasId, deleted: true });
    },
  }),
];
