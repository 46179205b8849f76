/**
 * The client's types are written out, so that it can be published alone. They must be those of the routes' schemas: a
 * difference does not compile here.
 */
import type { Static, TSchema } from 'typebox';
import type * as consents from '../../api/consents/schema.ts';
import type * as folders from '../../api/folders/schema.ts';
import type * as mailboxes from '../../api/mailboxes/schema.ts';
import type * as messages from '../../api/messages/schema.ts';
import type * as sending from '../../api/messages/send-schema.ts';
import type { PageQuery } from '../../api/pagination.ts';
import type * as threads from '../../api/threads/schema.ts';
import type * as client from '../../client/index.ts';

/** Without `readonly`, and with intersections and interfaces as plain objects: what JSON knows. */
type Plain<Value> = Value extends readonly (infer Item)[]
  ? Plain<Item>[]
  : Value extends object
    ? { -readonly [Key in keyof Value]: Plain<Value[Key]> }
    : Value;

type Same<One, Other> =
  (<Value>() => Value extends Plain<One> ? 1 : 2) extends <Value>() => Value extends Plain<Other> ? 1 : 2
    ? true
    : false;

/** Compiles only when the client's type is that of the schema. */
function same<Type, Schema extends TSchema>(_are: Same<Type, Static<Schema>>): void {}

same<client.Mailbox, typeof mailboxes.Mailbox>(true);
same<client.Connection, typeof mailboxes.Connection>(true);
same<client.MessageSummary, typeof messages.MessageSummary>(true);
same<client.Page<client.MessageSummary>, typeof messages.MessageList>(true);
same<client.Message, typeof messages.Message>(true);
same<client.Page<client.SearchHit>, typeof messages.SearchHitList>(true);
same<client.MessagesQuery, typeof messages.MessagesQuery>(true);
same<client.WaitQuery, typeof messages.WaitQuery>(true);
same<client.WaitAnswer, typeof messages.WaitAnswer>(true);
same<client.SearchQuery, typeof messages.SearchQuery>(true);
same<client.PageQuery, typeof PageQuery>(true);
same<client.MessageChange, typeof messages.UpdateMessage>(true);
same<client.NewMessage, typeof sending.SendMessage>(true);
same<client.AnswerMessage, typeof sending.ReplyMessage>(true);
same<client.AnswerMessage, typeof sending.ForwardMessage>(true);
same<client.SentMessage, typeof sending.SentMessage>(true);
same<client.HeldMessage, typeof sending.HeldMessage>(true);
same<client.MessageStatus, typeof sending.MessageStatus>(true);
same<client.Page<client.ThreadSummary>, typeof threads.ThreadList>(true);
same<client.Thread, typeof threads.Thread>(true);
same<{ data: client.Folder[] }, typeof folders.FolderList>(true);
same<client.Consent, typeof consents.Consent>(true);
same<client.Page<client.Consent>, typeof consents.ConsentList>(true);
same<client.ConsentsQuery, typeof consents.ConsentsQuery>(true);
// @ts-expect-error a missing field is told
same<Omit<client.Folder, 'unread'>, typeof folders.Folder>(true);
// @ts-expect-error so is another type of a field
same<Omit<client.Folder, 'unread'> & { unread: string }, typeof folders.Folder>(true);
