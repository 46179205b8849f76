/** Messages that dialogues use. */

/** The message of RFC 9051 §6.3.12 and §8. */
export const LUNCH = `Date: Mon, 7 Feb 1994 21:52:25 -0800 (PST)
From: Fred Foobar <foobar@Blurdybloop.example>
Subject: afternoon meeting
To: mooch@owatagu.siam.edu.example
Message-Id: <B27397-0100000@Blurdybloop.example>
MIME-Version: 1.0
Content-Type: TEXT/PLAIN; CHARSET=US-ASCII

Hello Joe, do you think we can meet at 3:30 tomorrow?
`;

/** A small mail with a subject. */
export const note = (subject: string, more = '', body = 'Text.'): string =>
  `From: Ann <ann@example.org>\nTo: agent@example.com\nSubject: ${subject}\nDate: Fri, 20 Nov 2026 09:00:00 +0000\n${more}\n${body}\n`;
