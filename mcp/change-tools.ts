import Type from 'typebox';
import { ChangedOutput, DeletedOutput } from './output-schemas.ts';
import { MessageId } from './read-tools.ts';
import { answer, type Tool, tool } from './tool.ts';

const closed = { additionalProperties: false } as const;

export const changeTools: readonly Tool[] = [
  tool({
    name: 'update_message',
    title: 'Move, label or mark a message',
    description:
      'Moves a message to a folder, sets its labels, marks it as seen or flagged. Omitted fields do not change.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    needs: 'change',
    output: ChangedOutput,
    input: Type.Object(
      {
        messageId: MessageId,
        folder: Type.Optional(Type.String({ description: 'Name of the folder, such as Archive; see list_folders.' })),
        labels: Type.Optional(Type.Array(Type.String(), { description: 'All labels the message has afterwards.' })),
        seen: Type.Optional(Type.Boolean()),
        flagged: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    async run(client, { messageId, ...change }, call) {
      const { id, folders, labels, seen, flagged } = await client.updateMessage(messageId, change, call);
      return answer({ id, folders, labels, seen, flagged });
    },
  }),
  tool({
    name: 'delete_message',
    title: 'Delete a message',
    description:
      'Moves a message to the trash. A message in the trash, or any message with permanent, is removed permanently.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    needs: 'change',
    output: DeletedOutput,
    input: Type.Object(
      { messageId: MessageId, permanent: Type.Optional(Type.Boolean({ description: 'Default false.' })) },
      closed,
    ),
    async run(client, { messageId, permanent = false }, call) {
      await client.deleteMessage(messageId, { permanent }, call);
      return answer({ id: messageId, deleted: true });
    },
  }),
];
