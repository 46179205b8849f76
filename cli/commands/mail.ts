/** `mail`. */
import type { Command } from 'commander';
import { addChangeCommands } from './change-mail.ts';
import { addExtractsCommand } from './extracts.ts';
import { addOutboxToMail } from './outbox.ts';
import { addReadCommands } from './read-mail.ts';
import { addSendCommands } from './send-mail.ts';
import { addWaitCommand } from './wait-for-mail.ts';

export function addMailCommands(program: Command): void {
  const mail = program.command('mail').description('Read and send mail');
  addReadCommands(mail);
  addExtractsCommand(mail);
  addWaitCommand(mail);
  addSendCommands(mail);
  addOutboxToMail(mail);
  addChangeCommands(mail);
}
