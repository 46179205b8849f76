import { bad, messageNumber, noMessage, ok, refused, transactionCommand } from '#pop3/command.ts';

/** RFC 1939 §5: a mark, which QUIT carries out. */
export const dele = transactionCommand('DELE', (maildrop, argument) => {
  const number = messageNumber(argument);
  if (number === undefined) return bad('DELE takes the number of a message');
  if (maildrop.message(number) === undefined) return noMessage(maildrop, number);
  if (maildrop.readOnly) return refused('This token may only read');
  maildrop.markDeleted(number);
  return ok(`Message ${number} will be deleted at QUIT`);
});
