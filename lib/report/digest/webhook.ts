/** Where a digest is posted to. */
export type WebhookService = 'slack' | 'teams';

/** The body of a post: what Slack's incoming webhooks take, or an Adaptive Card in a message as Teams' workflows take it. */
export const webhookBody: Readonly<
  Record<WebhookService, (digest: { readonly subject: string; readonly text: string }) => object>
> = {
  slack: ({ subject, text }) => ({ text: `*${slackText(subject)}*\n${slackCode(text, MAX_SLACK_TEXT)}` }),
  teams: ({ subject, text }) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: [{ weight: 'Bolder', text: subject }, ...cardLines(text)].map(run),
        },
      },
    ],
  }),
};

/** Of the 40,000 characters after which Slack cuts a message. */
const MAX_SLACK_TEXT = 30_000;

/** Of the 28 KB that Teams takes, in bytes of the lines' text: each is JSON of its own besides. */
const MAX_TEAMS_BYTES = 12_000;

/** Its lines, as many as there is room for. */
function cardLines(text: string): readonly { readonly text: string }[] {
  let left = MAX_TEAMS_BYTES;
  const lines = text.split('\n').map((line) => (line === '' ? ' ' : line));
  const fit = lines.filter((line) => {
    left -= Buffer.byteLength(line) + BYTES_AROUND;
    return left >= 0;
  });
  return [...fit, ...(fit.length < lines.length ? ['…'] : [])].map((line) => ({ text: line }));
}

const BYTES_AROUND = 60;

/** A text run has no markup, so that a name stays what it is. */
const run = (one: { readonly text: string }) => ({
  type: 'RichTextBlock',
  spacing: 'None',
  inlines: [{ type: 'TextRun', ...one }],
});

/** As code of at most so many characters, in which no name becomes a mention or a link. */
export function slackCode(text: string, longest: number): string {
  const code = slackText(text).replaceAll('`', "'");
  const cut = code.length > longest ? `${code.slice(0, longest).replace(/&[a-z]*$/, '')}…` : code;
  return `\`\`\`\n${cut}\n\`\`\``;
}

/** The three characters that Slack reads as markup everywhere. */
export const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
