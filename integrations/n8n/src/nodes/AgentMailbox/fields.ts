/** Fields of the node by resource and operation, as the editor shows them. */
import type { Choice, Property } from '../../n8n-interfaces.ts';

const WAIT_DEFAULT_SECONDS = 30;
const WAIT_MAX_SECONDS = 60;
const LIST_DEFAULT = 50;
const LIST_MAX = 1_000;

const shown = (resource: string, ...operations: string[]) => ({
  show: { resource: [resource], operation: operations },
});

const text = (
  displayName: string,
  name: string,
  displayOptions: ReturnType<typeof shown>,
  more: Partial<Property> = {},
): Property => ({ displayName, name, type: 'string', default: '', displayOptions, ...more });

const operations = (resource: string, start: string, options: readonly Choice[]): Property => ({
  displayName: 'Operation',
  name: 'operation',
  type: 'options',
  noDataExpression: true,
  default: start,
  displayOptions: { show: { resource: [resource] } },
  options,
});

const written: readonly Property[] = [
  { displayName: 'BCC', name: 'bcc', type: 'string', default: '', description: 'Addresses, separated by commas' },
  { displayName: 'CC', name: 'cc', type: 'string', default: '', description: 'Addresses, separated by commas' },
  {
    displayName: 'Attachments',
    name: 'attachments',
    type: 'string',
    default: '',
    placeholder: 'data',
    description: 'Names of binary fields of the input, separated by commas. They are uploaded and attached.',
  },
  { displayName: 'HTML', name: 'html', type: 'string', default: '', typeOptions: { rows: 5 } },
  {
    displayName: 'Send At',
    name: 'sendAt',
    type: 'dateTime',
    default: '',
    description: 'Not before this time, at most 90 days ahead',
  },
];

const options = (displayOptions: ReturnType<typeof shown>, list: readonly Property[]): Property => ({
  displayName: 'Additional Fields',
  name: 'additionalFields',
  type: 'collection',
  default: {},
  placeholder: 'Add Field',
  displayOptions,
  options: list,
});

const part = (displayName: string, name: string, description: string): Property => ({
  displayName,
  name,
  type: 'string',
  default: '',
  description,
});
const FROM = part('From', 'from', 'Part of the name or address of the sender');
const SUBJECT = part('Subject', 'subject', 'Part of the subject');
const FOLDER = part('Folder', 'folder', 'Name of a folder, or * for all');
const SINCE: Property = {
  displayName: 'Since',
  name: 'since',
  type: 'dateTime',
  default: '',
  description: 'Received at this time or later',
};

export const fields: readonly Property[] = [
  {
    displayName: 'Resource',
    name: 'resource',
    type: 'options',
    noDataExpression: true,
    default: 'message',
    options: [
      { name: 'Attachment', value: 'attachment' },
      { name: 'Draft', value: 'draft' },
      { name: 'Message', value: 'message' },
    ],
  },
  operations('attachment', 'download', [
    { name: 'Download', value: 'download', action: 'Download an attachment', description: 'As a binary field' },
    {
      name: 'Get Text',
      value: 'getText',
      action: 'Get the text of an attachment',
      description: 'Of a PDF, an Office file, HTML, CSV or text',
    },
  ]),
  operations('draft', 'create', [
    { name: 'Create', value: 'create', action: 'Create a draft' },
    { name: 'Delete', value: 'delete', action: 'Delete a draft' },
    { name: 'Get', value: 'get', action: 'Get a draft' },
    { name: 'Get Many', value: 'getAll', action: 'Get many drafts' },
    { name: 'Send', value: 'send', action: 'Send a draft' },
  ]),
  operations('message', 'getAll', [
    { name: 'Forward', value: 'forward', action: 'Forward a message' },
    { name: 'Get', value: 'get', action: 'Get a message', description: 'With its one-time code and its links' },
    { name: 'Get Many', value: 'getAll', action: 'Get many messages' },
    { name: 'Reply', value: 'reply', action: 'Reply to a message' },
    { name: 'Search', value: 'search', action: 'Search messages' },
    { name: 'Send', value: 'send', action: 'Send a message' },
    { name: 'Wait', value: 'wait', action: 'Wait for a message', description: 'With its one-time code and its links' },
  ]),
  {
    displayName: 'Mailbox Name or ID',
    name: 'mailboxId',
    type: 'options',
    typeOptions: { loadOptionsMethod: 'getMailboxes' },
    default: '',
    description:
      'Not needed with the token of a mailbox. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
  },
  text('Message ID', 'messageId', shown('message', 'forward', 'get', 'reply'), {
    required: true,
    placeholder: 'msg_…',
  }),
  text('Message ID', 'messageId', shown('attachment', 'download', 'getText'), { required: true, placeholder: 'msg_…' }),
  text('Attachment ID', 'attachmentId', shown('attachment', 'download', 'getText'), {
    required: true,
    placeholder: '2',
    description: 'As the list of attachments of the message has it',
  }),
  text('Put Output in Field', 'binaryField', shown('attachment', 'download'), { default: 'data', required: true }),
  text('Draft ID', 'draftId', shown('draft', 'delete', 'get', 'send'), { required: true, placeholder: 'drf_…' }),
  text('To', 'to', shown('message', 'send', 'forward'), {
    required: true,
    description: 'Addresses, separated by commas',
  }),
  text('To', 'to', shown('draft', 'create'), { description: 'Addresses, separated by commas' }),
  text('Subject', 'subject', shown('message', 'send'), { required: true }),
  text('Subject', 'subject', shown('draft', 'create')),
  text('Text', 'text', shown('message', 'send', 'reply', 'forward'), { typeOptions: { rows: 5 } }),
  text('Text', 'text', shown('draft', 'create'), { typeOptions: { rows: 5 } }),
  text('Words', 'words', shown('message', 'search'), {
    required: true,
    description: 'To look for in subject, text and addresses',
  }),
  {
    displayName: 'Reply to All',
    name: 'replyAll',
    type: 'boolean',
    default: false,
    displayOptions: shown('message', 'reply'),
    description: 'Whether everybody who got the message gets the reply',
  },
  {
    displayName: 'Timeout (Seconds)',
    name: 'timeoutSeconds',
    type: 'number',
    typeOptions: { minValue: 1, maxValue: WAIT_MAX_SECONDS },
    default: WAIT_DEFAULT_SECONDS,
    displayOptions: shown('message', 'wait'),
    description: 'How long to wait. When it is over, the result has timedOut: true.',
  },
  ...['message', 'draft'].map(
    (resource): Property => ({
      displayName: 'Limit',
      name: 'limit',
      type: 'number',
      typeOptions: { minValue: 1, maxValue: LIST_MAX },
      default: LIST_DEFAULT,
      displayOptions: resource === 'draft' ? shown('draft', 'getAll') : shown('message', 'getAll', 'search'),
      description: 'Max number of results to return',
    }),
  ),
  options(shown('message', 'send', 'reply', 'forward'), written),
  options(shown('draft', 'create'), written),
  options(shown('message', 'search'), [FOLDER]),
  options(shown('message', 'wait'), [
    FOLDER,
    FROM,
    { ...SINCE, description: 'Mail received at this time or later also counts; without it only mail from now on' },
    SUBJECT,
  ]),
  options(shown('message', 'getAll'), [
    FOLDER,
    FROM,
    { displayName: 'Only Unread', name: 'unread', type: 'boolean', default: false },
    SINCE,
    SUBJECT,
  ]),
];
