/** The service to which a digest is posted. */
export type WebhookService = 'slack' | 'teams';

/**
 * The body to post: for Slack, what an incoming webhook accepts; for Teams, a message with an Adaptive Card, which a
 * workflow accepts.
 */
export function webhookBody(
  to: WebhookService,
  { subject, text }: { readonly subject: string; readonly text: string },
): object {
  if (to === 'slack') return { text: `*${slackText(subject)}*\n${slackCode(text, MAX_SLACK_TEXT)}` };
  const body = [{ weight: 'Bolder', text: subject }, ...cardLines(text)].map(textBlock);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body,
  };
  return { type: 'message', attachments: [{ contentType: CARD_TYPE, content }] };
}

const CARD_TYPE = 'application/vnd.microsoft.card.adaptive';

/** Maximum characters of the text. Slack cuts a message after 40,000. */
const MAX_SLACK_TEXT = 30_000;

/** Maximum bytes of the lines and of the JSON around them. Teams accepts a message of 28 KB. */
const MAX_TEAMS_BYTES = 12_000;

/** The lines of a text up to `MAX_TEAMS_BYTES`, and `…` if some do not fit. */
function cardLines(text: string): readonly { readonly text: string }[] {
  let left = MAX_TEAMS_BYTES;
  const lines = text.split('\n').map((line) => (line === '' ? ' ' : line));
  const fit = lines.filter((line) => {
    left -= Buffer.byteLength(line) + BYTES_AROUND;
    return left >= 0;
  });
  return [...fit, ...(fit.length < lines.length ? ['…'] : [])].map((line) => ({ text: line }));
}

/** An estimate of the bytes of JSON around each line. */
const BYTES_AROUND = 60;

/** One line as a block. A TextRun has no markup, so names are shown unchanged. */
const textBlock = (one: { readonly text: string }) => ({
  type: 'RichTextBlock',
  spacing: 'None',
  inlines: [{ type: 'TextRun', ...one }],
});

/** Formats text as code of at most `maxLength` characters, so that no name becomes a mention or a link. */
export function slackCode(text: string, maxLength: number): string {
  const code = slackText(text).replaceAll('`', "'");
  const cut = code.length > maxLength ? `${code.slice(0, maxLength).replace(/&[a-z]*$/, '')}…` : code;
  return `\`\`\`\n${cut}\n\`\`\``;
}

/** Escapes the three characters that Slack reads as markup everywhere. */
export const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
