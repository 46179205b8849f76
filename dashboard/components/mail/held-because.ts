const WORDS = {
  first_contact: 'First contact',
  carries_other_mail: 'Contains other mail',
  reply_target: 'Replies go elsewhere',
  opaque_links: 'Links that could carry data',
  unknown_sender_read: 'After mail of an unknown sender',
  always: 'All outside mail is held',
  over_message_budget: 'Over the budget of messages',
  over_new_recipient_budget: 'Over the budget of new recipients',
  resubmitted: 'Changed after it was sent back',
  not_recorded: 'Held',
} as const;

/** Why a message waits for a person, in a few words; the request itself says it as a sentence. */
export const heldBecauseWords = (kind: keyof typeof WORDS): string => WORDS[kind];

/** Whether a text, such as one of an address of a page, is such a kind. */
export const isHeldBecause = (text: unknown): text is keyof typeof WORDS =>
  typeof text === 'string' && Object.hasOwn(WORDS, text);
