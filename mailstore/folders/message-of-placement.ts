/** How statements join the message of a placement. */

/**
 * The message of each placement `p`, as `m`; the mailbox of both is checked in `where`.
 *
 * PostgreSQL keeps a plan while the tables grow. One made when mailboxes had hardly any mail reads all messages of the
 * mailbox for each placement. `offset 0` makes it look up each message by its primary key.
 */
export const MESSAGE_OF_PLACEMENT = 'cross join lateral (select * from message where id = p.message_id offset 0) m';
