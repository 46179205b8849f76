const signedInExample = {
  expiresAt: '2026-12-21T09:15:00.000Z',
  user: { id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8', name: 'Ada Byron', email: 'ada@example.com' },
  organizations: [
    { id: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8', name: 'Example', slug: 'example', plan: 'team', role: 'owner' },
  ],
};

export const sessionExample = { ...signedInExample, changesId: '184467-1795512000000' };

export const sessionListExample = {
  data: [
    {
      id: 'ses_01k8e8f2c0e4x9w2v7a3r5t6y8',
      current: true,
      createdAt: '2026-11-21T09:15:00.000Z',
      lastUsedAt: '2026-11-22T08:01:12.000Z',
      expiresAt: '2026-12-22T08:01:12.000Z',
      ipAddress: '203.0.113.7',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    },
  ],
};

export const sessionWithTokenExample = {
  token: 'ams_vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M4k7d2q',
  ...signedInExample,
};
