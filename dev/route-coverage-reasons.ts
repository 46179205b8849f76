/**
 * Why a route is not reached by the client, the command line or MCP on purpose. A route that is missing somewhere and
 * has no line here fails a test.
 */
export interface CoverageReason {
  readonly columns: readonly ('client' | 'cli' | 'mcp')[];
  readonly reason: string;
  /** Operations, or all of a tag of the API. */
  readonly operations?: readonly string[];
  readonly tags?: readonly string[];
}

export const COVERAGE_REASONS: readonly CoverageReason[] = [
  {
    columns: ['mcp'],
    reason: 'MCP opens one mailbox by its token; what needs a key or a session is not given to an agent.',
    tags: [
      'Mailboxes',
      'Consents',
      'Lists',
      'Suppressions',
      'Domains',
      'Sessions',
      'Organization',
      'Members',
      'API keys',
      'Usage',
      'Audit',
      'Activity',
      'Webhooks',
    ],
  },
  {
    columns: ['mcp'],
    reason: 'The same route for a key of the organization; MCP uses the route of its own mailbox.',
    operations: [
      ...['searchMailboxMessages', 'waitForMailboxMessages', 'listMailboxOutbox', 'withdrawMailboxMessage'],
      ...['listMailboxMessages', 'getMailboxMessage', 'getMailboxMessageRaw', 'getMailboxMessageAttachment'],
      ...['getMailboxMessageExtracts', 'updateMailboxMessage', 'deleteMailboxMessage', 'sendMailboxMessage'],
      ...['replyToMailboxMessage', 'replyToAllOfMailboxMessage', 'forwardMailboxMessage', 'getMailboxMessageStatus'],
      ...['listMailboxDrafts', 'createMailboxDraft', 'getMailboxDraft', 'updateMailboxDraft', 'deleteMailboxDraft'],
      ...['changeMailboxMessages', 'listMessagesOfMailboxes', 'searchMessagesOfMailboxes', 'listThreadsOfMailboxes'],
      ...['sendMailboxDraft', 'streamMailboxEvents', 'listMailboxThreads', 'getMailboxThread', 'listMailboxFolders'],
      ...['listMailboxFiles', 'uploadMailboxFile', 'createMailboxUpload', 'getMailboxFile', 'deleteMailboxFile'],
      ...['getMailboxAttachmentText'],
    ],
  },
  {
    columns: ['mcp'],
    reason: 'A model that was misled by a mail must not change or delete hundreds of messages in one step.',
    operations: ['changeMessages'],
  },
  {
    columns: ['mcp'],
    reason: 'Bytes of a whole message do not help a model; read_message gives its text.',
    operations: ['getMessageRaw'],
  },
  {
    columns: ['cli', 'mcp'],
    reason: 'A stream without an end is for programs; wait_for_message and `mail wait` wait for mail.',
    operations: ['streamEvents', 'streamMailboxEvents'],
  },
  {
    columns: ['client', 'cli', 'mcp'],
    reason: 'A picture for the person who looks at a mail in the dashboard; nothing else should load it.',
    operations: ['getRemoteImage'],
  },
  {
    columns: ['client', 'cli', 'mcp'],
    reason:
      'Opened by the link of a notice in a browser: the link is for one person and must not pass through programs.',
    tags: ['Approval by link'],
  },
  {
    columns: ['client', 'cli', 'mcp'],
    reason: 'A form in the browser, where a person types a password; programs use keys, and people sign in there.',
    operations: [
      ...['createSession', 'requestPasswordReset', 'acceptPasswordReset', 'lookAtInvitation', 'acceptInvitation'],
    ],
  },
  {
    columns: ['client', 'cli', 'mcp'],
    reason: 'A person decides about a device on the page of the service, never a program.',
    operations: ['lookAtDeviceSignIn', 'decideDeviceSignIn'],
  },
  {
    columns: ['client', 'cli', 'mcp'],
    reason: 'A person decides in the browser which programs may use a mailbox, sees them there and ends their access.',
    tags: ['Connected programs'],
  },
  {
    columns: ['client', 'cli', 'mcp'],
    reason: 'For the operator of the instance, who has another credential than any of its customers.',
    operations: ['changePlan', 'listOrganizations', 'createOrganization', 'suspendWebhook'],
  },
  {
    columns: ['client', 'cli', 'mcp'],
    reason: 'Asked by load balancers and supervisors, not by customers.',
    tags: ['Operations'],
  },
  {
    columns: ['client', 'cli', 'mcp'],
    reason: 'The state of the page that shows a person the first steps.',
    operations: ['getFirstRun'],
  },
  {
    columns: ['cli'],
    reason: 'Bytes of a held message; a person looks at it before a decision, safely in the dashboard.',
    operations: ['getConsentMessageRaw', 'getConsentMessageAttachment'],
  },
  {
    columns: ['client', 'cli', 'mcp'],
    reason: 'The URL is for programs without a credential: any HTTP client sends the file with one PUT.',
    operations: ['uploadByUrl'],
  },
  {
    columns: ['cli'],
    reason: '`--attach` uploads and attaches in one step; files are gone after a day.',
    operations: [
      ...['listFiles', 'getFile', 'deleteFile', 'createUpload'],
      ...['listMailboxFiles', 'getMailboxFile', 'deleteMailboxFile', 'createMailboxUpload'],
    ],
  },
  {
    columns: ['cli'],
    reason: '`mail attachment` saves the file, and programs for its format show it.',
    operations: ['getAttachmentText', 'getMailboxAttachmentText'],
  },
  {
    columns: ['mcp'],
    reason: 'A tool takes a path, a file id or an upload URL, and the file is attached in the same conversation.',
    operations: ['listFiles', 'getFile', 'deleteFile'],
  },
  {
    columns: ['mcp'],
    reason: 'read_attachment asks for the bytes only where there is no text, such as of a picture.',
    operations: ['getMessageAttachment'],
  },
  {
    columns: ['cli'],
    reason: 'Snippets of the token’s own mailbox are shown by `connection --snippets`.',
    operations: ['listMailboxSnippets'],
  },
  {
    columns: ['cli'],
    reason: 'Settings and reports that a person changes and reads in the dashboard; programs use the client.',
    operations: [
      ...['getOrganization', 'updateOrganization', 'getOrganizationSending', 'getNoticeSettings', 'putNoticeSettings'],
      ...['testChatWebhook', 'listNotices', 'listSessions', 'deleteOtherSessions', 'changePassword', 'endSession'],
    ],
    tags: ['Lists', 'Suppressions', 'Members', 'Usage', 'Audit', 'Activity'],
  },
  {
    columns: ['cli'],
    reason: 'Part of `login` and `logout` with the session of a person.',
    operations: ['getSession', 'deleteSession'],
  },
  {
    columns: ['cli'],
    reason: 'An address for receivers of webhooks; `webhooks signing-keys` prints it.',
    operations: ['getWebhookKeySet'],
  },
];
