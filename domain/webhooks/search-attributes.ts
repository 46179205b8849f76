/**
 * Search attributes of all workflows, by which a person finds in the Temporal UI the workflow of a webhook-id, an
 * endpoint, an organization or an event. They contain ids only, never content.
 */
export const SEARCH_ATTRIBUTES = {
  OrganizationId: 'Keyword',
  EndpointId: 'Keyword',
  MailboxId: 'Keyword',
  EventType: 'Keyword',
  DeliveryIds: 'KeywordList',
  EventIds: 'KeywordList',
  MessageId: 'Keyword',
} as const;

/** The engine limits a value to 2 KB: so many ids of 30 characters fit into a list. */
export const SEARCH_ATTRIBUTE_IDS_MAX = 50;
