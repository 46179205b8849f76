import type { Static } from 'typebox';
import type { MessageExtracts } from '#api/messages/schema.ts';
import type { readContent } from '#mailstore/messages/message-content.ts';
import { surelyCode } from '#mime/one-time-code.ts';

type Content = Awaited<ReturnType<typeof readContent>>;

export const presentExtracts = ({
  codes,
  links,
}: Pick<Content, 'codes' | 'links'>): Static<typeof MessageExtracts> => ({
  otp: surelyCode(codes),
  otpCandidates: codes.map((code) => ({ ...code })),
  links: links.map((link) => ({ ...link })),
});
