import type { Static } from 'typebox';
import type { readContent } from '#mailstore/message-content.ts';
import { surelyCode } from '#mime/one-time-code.ts';
import type { MessageExtracts } from './schema.ts';

type Content = Awaited<ReturnType<typeof readContent>>;

export const presentExtracts = ({
  codes,
  links,
}: Pick<Content, 'codes' | 'links'>): Static<typeof MessageExtracts> => ({
  otp: surelyCode(codes),
  otpCandidates: codes.map((code) => ({ ...code })),
  links: links.map((link) => ({ ...link })),
});
