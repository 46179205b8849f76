const WORDS = {
  first_contact: 'First contact',
  carries_other_mail: 'Contains other mail',
  reply_target: 'Replies go elsewhere',
  always: 'All outside mail is held',
  over_message_budget: 'Over the budget of messages',
  over_new_recipient_budget: 'Over the budget of new recipients',
  not_recorded: 'Held',
} as const;

/** Why a message waits for a person, in a few words; the request itself says it as a sentence. */
export const heldBecauseWords = (kind: keyof typeof WORDS): string => WORDS[kind];
