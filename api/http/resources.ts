/** What each tag of the route table is about: the resources of the OpenAPI document and of the documentation. */
export const RESOURCES = {
  Mailboxes:
    'Create, change, suspend and delete mailboxes, rotate their tokens, and get the settings for mail programs.',
  Messages:
    'List, search, read, label, move and delete messages, wait for new ones, and get the codes and links in them.',
  Sending: 'Send, reply to and forward messages, and see what happened to them.',
  Drafts: 'Messages that are not sent yet; mail programs see them in the folder Drafts.',
  Files:
    'Upload files once and attach them by their id; a one-time URL takes files from programs without a credential.',
  Events: 'Changes of a mailbox as a stream of server-sent events, and the events that webhooks receive.',
  Consents: 'Requests for a decision of a person about held messages.',
  'Approval by link': 'The routes behind the link of a notice, by which one member decides about one held message.',
  Lists: 'Allow and block lists of senders and recipients, for the organization or one mailbox.',
  Suppressions: 'Addresses that the service no longer writes to, because they bounced or complained.',
  Threads: 'Conversations of a mailbox.',
  Folders: 'Folders of a mailbox with their counts.',
  Domains: 'Own domains with their DNS records.',
  Sessions: 'Sign in and out, change a password, and choose notifications.',
  Organization: 'The organization with its settings, its plan, and a stream of its events.',
  Members: 'People of the organization, their roles, and invitations.',
  'API keys': 'Keys for programs, with scopes and expiry.',
  Usage: 'Counts of mailboxes, messages and storage, now and by day.',
  Audit: 'Who changed what.',
  Activity: 'Find a message, event, delivery or approval, and its history as one timeline.',
  Webhooks: 'Endpoints for events, their deliveries with every attempt, sending again, and recovery after an outage.',
  'Connected programs':
    'Programs with access to a mailbox by OAuth, and the requests for access that a person decides.',
  Operations: 'Health checks for load balancers and supervisors.',
} as const;
export type ResourceName = keyof typeof RESOURCES;
