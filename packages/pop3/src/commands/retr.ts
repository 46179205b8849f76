import { bad, messageNumber, noMessage, ok, refused, transactionCommand } from '#pop3/command.ts';

/** RFC 1939 §5. */
export const retr = transactionCommand('RETR', async (maildrop, argument) => {
  const number = messageNumber(argument);
  if (number === undefined) return bad('RETR takes the number of a message');
  const message = maildrop.message(number);
  if (message === undefined) return noMessage(maildrop, number);
  const content = await maildrop.read(message);
  if (content === undefined) return refused(`Message ${number} has been removed meanwhile`);
  return ok(`${message.size} octets`, { content });
});
