/** Reasons that several resources give for a route without a call (`RouteInfo.withoutCall`). */
export const SHOWN_TO_PERSONS =
  'Settings and reports that a person changes and reads in the dashboard; programs use the client.';
export const FORM_IN_BROWSER =
  'A form in the browser, where a person types a password; programs use keys, and people sign in there.';
