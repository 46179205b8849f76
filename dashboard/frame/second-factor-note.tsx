import { Link } from '@tanstack/react-router';
import { useSignedIn } from '../api/session.ts';

/** Above every page, as long as the session lacks what the organization requires. The default export is loaded lazily. */
export default function SecondFactorNote() {
  const { organization } = useSignedIn();
  return (
    <p role="status" className="mb-4 rounded-lg border border-wait/40 bg-wait-soft px-4 py-3">
      {organization?.name} requires a second factor.{' '}
      {organization?.secondFactor === 'everyone'
        ? 'Without one you see nothing of it.'
        : 'Without one you can read, and neither decide nor change anything.'}{' '}
      <Link to="/settings/account">Add one to your account</Link>; if you have one, sign in again with it.
    </p>
  );
}
