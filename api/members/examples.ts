export const memberExample = {
  id: 'mem_01k8e8f2c0e4x9w2v7a3r5t6y8',
  userId: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Ada Byron',
  email: 'ada@example.com',
  role: 'admin',
  createdAt: '2026-11-21T09:15:00.000Z',
  lastSeenAt: '2026-11-22T08:01:00.000Z',
};
export const invitationExample = {
  id: 'inv_01k8e8f2c0e4x9w2v7a3r5t6y8',
  email: 'grace@example.com',
  role: 'member',
  expiresAt: '2026-11-28T09:15:00.000Z',
  createdAt: '2026-11-21T09:15:00.000Z',
  invitedBy: { name: 'Ada Byron', email: 'ada@example.com' },
};
const token = 'Zm9yIHRoZSBkb2N1bWVudHMgb25seSwgbm90IGEgdG9rZW4';

export const invitationWithTokenExample = {
  ...invitationExample,
  delivery: 'by_inviter',
  token,
  acceptUrl: `https://mail.example.com/accept-invitation#${token}`,
};

export const invitationLookExample = {
  organizationName: 'Example',
  email: 'grace@example.com',
  role: 'member',
  invitedBy: { name: 'Ada Byron', email: 'ada@example.com' },
  accountExists: false,
  expiresAt: '2026-11-28T09:15:00.000Z',
};

const resetToken = 'amr_vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M0ht3ep';

export const passwordResetExample = {
  token: resetToken,
  resetUrl: `https://mail.example.com/reset-password#${resetToken}`,
  expiresAt: '2026-11-21T10:15:00.000Z',
};
