import { type ChatSlug, channelOf, type Properties, type ServiceFlag } from '../services/kinds.ts'
import { type ChatMessage, type Mood, messageOf } from './message.ts'
import {
  discordWriting,
  mattermostWriting,
  plainLine,
  slackWriting,
  teamsWriting,
  type Writing,
  writeDetails,
  writeLine,
} from './text.ts'

/** Maximum characters of the details of a message; the receivers' own maxima are above. */
const maxDetails = 8000
/** Of a description: Discord refuses more than 4096 characters, and the summary has fewer than 3600. */
const maxDiscord = 4000

const colors: Readonly<Record<Mood, number>> = { neutral: 0x334155, good: 0x2da160, bad: 0xd22852 }

const hexColor = ({ mood }: ChatMessage): string => colors[mood].toString(16).padStart(6, '0')

/** Slack, and Mattermost, which accepts the same keys. */
const slackLike =
  (writing: Writing) =>
  (message: ChatMessage, { username }: Properties, channel: string | undefined): object => {
    const details = writeDetails(message, writing, maxDetails)
    return {
      text: writeLine(message.summary, writing),
      mrkdwn: false,
      ...(username !== undefined && { username }),
      ...(channel !== undefined && { channel }),
      ...(details.length > 0 && {
        attachments: [
          {
            fallback: writing.escape(plainLine(message.summary)),
            color: `#${hexColor(message)}`,
            text: details.join('\n'),
            mrkdwn_in: [],
          },
        ],
      }),
    }
  }

function discord(message: ChatMessage): object {
  const summary = writeLine(message.summary, discordWriting)
  const details = writeDetails(message, discordWriting, maxDiscord - summary.length)
  return {
    allowed_mentions: { parse: [] },
    embeds: [{ color: colors[message.mood], description: [summary, ...details].join('\n') }],
  }
}

function microsoftTeams(message: ChatMessage): object {
  const details = writeDetails(message, teamsWriting, maxDetails)
  return {
    '@type': 'MessageCard',
    '@context': 'https://schema.org/extensions',
    summary: plainLine(message.summary),
    themeColor: hexColor(message),
    sections: [
      {
        activityText: writeLine(message.summary, teamsWriting),
        ...(details.length > 0 && { text: details.join('\n\n') }),
        markdown: true,
      },
    ],
  }
}

const templates: Readonly<
  Record<ChatSlug, (message: ChatMessage, properties: Properties, channel: string | undefined) => object>
> = {
  slack: slackLike(slackWriting),
  mattermost: slackLike(mattermostWriting),
  discord,
  'microsoft-teams': microsoftTeams,
}

/** The body that a chat receives instead of the payload of a hook, both as JSON text. */
export function chatBody(slug: ChatSlug, properties: Properties, trigger: ServiceFlag, payload: string): string {
  const channel = properties[channelOf[trigger]] ?? properties.channel
  return JSON.stringify(templates[slug](messageOf(JSON.parse(payload)), properties, channel))
}
