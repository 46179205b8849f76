export const sessionExample = {
  expiresAt: '2026-12-21T09:15:00.000Z',
  user: { id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8', name: 'Ada Byron', email: 'ada@example.com' },
  organizations: [
    { id: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8', name: 'Example', slug: 'example', plan: 'team', role: 'owner' },
  ],
};

export const sessionWithTokenExample = {
  token: 'ams_vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M4k7d2q',
  ...sessionExample,
};
