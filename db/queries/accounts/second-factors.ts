/** Whether an account has a second factor: then a password alone opens no session. @param user an expression with its id */
export const hasSecondFactor = (user: string): string => `(
  exists (select from totp_factor t where t.user_id = ${user} and t.confirmed_at is not null)
  or exists (select from passkeys k where k.user_id = ${user}))`;
