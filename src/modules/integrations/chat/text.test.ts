import { describe, expect, test } from 'vitest'
import type { ChatSlug } from '../services/kinds.ts'
import { chatBody } from './templates.ts'

const project = { path_with_namespace: 'group/project', web_url: 'https://git.example/group/project' }

const issueTitled = (title: string, name = 'Ann') => ({
  object_kind: 'issue',
  user: { name, username: 'ann' },
  project,
  object_attributes: {
    iid: 7,
    title,
    url: `${project.web_url}/-/issues/7`,
    action: 'open',
    description: title,
    confidential: false,
  },
})

const shown = (slug: ChatSlug, payload: object): { summary: string; details: string; body: string } => {
  const body = chatBody(slug, { branches_to_be_notified: 'all' }, 'issues_events', JSON.stringify(payload))
  const json = JSON.parse(body)
  if (slug === 'discord') {
    const [summary, ...details] = json.embeds[0].description.split('\n')
    return { summary, details: details.join('\n'), body }
  }
  if (slug === 'microsoft-teams') {
    const [section] = json.sections
    return { summary: section.activityText, details: section.text ?? '', body }
  }
  return { summary: json.text, details: json.attachments?.[0].text ?? '', body }
}

const all = ['slack', 'mattermost', 'discord', 'microsoft-teams'] as const
const zero = '\u200b'

/** What each format makes of a title. */
const hostile: readonly (readonly [title: string, Record<ChatSlug, string>])[] = [
  [
    '<!channel> & <@U1>',
    {
      slack: `&lt;!channel&gt; &amp; &lt;@${zero}U1&gt;`,
      mattermost: `&lt;\\!channel&gt; &amp; &lt;@${zero}U1&gt;`,
      discord: `\\<\\!channel\\> & \\<@${zero}U1\\>`,
      'microsoft-teams': `&#60;&#33;channel&#62; &#38; &#60;@${zero}U1&#62;`,
    },
  ],
  [
    '@everyone @here @channel @all',
    Object.fromEntries(
      all.map((slug) => [slug, `@${zero}everyone @${zero}here @${zero}channel @${zero}all`]),
    ) as Record<ChatSlug, string>,
  ],
  [
    '[bank](http://evil.example)',
    {
      slack: '[bank](http://evil.example)',
      mattermost: '\\[bank\\]\\(http://evil.example\\)',
      discord: '\\[bank\\]\\(http\\://evil.example\\)',
      'microsoft-teams': '&#91;bank&#93;&#40;http://evil.example&#41;',
    },
  ],
  [
    '<http://evil.example|bank>',
    {
      slack: '&lt;http://evil.example|bank&gt;',
      mattermost: '&lt;http://evil.example\\|bank&gt;',
      discord: '\\<http\\://evil.example\\|bank\\>',
      'microsoft-teams': '&#60;http://evil.example&#124;bank&#62;',
    },
  ],
  [
    '<a href="http://evil.example">x</a>',
    {
      slack: '&lt;a href="http://evil.example"&gt;x&lt;/a&gt;',
      mattermost: '&lt;a href="http://evil.example"&gt;x&lt;/a&gt;',
      discord: '\\<a href="http\\://evil.example"\\>x\\</a\\>',
      'microsoft-teams': '&#60;a href=&#34;http://evil.example&#34;&#62;x&#60;/a&#62;',
    },
  ],
  [
    '`code` *bold* ~~no~~ \\[x\\](y)',
    {
      slack: '`code` *bold* ~~no~~ \\[x\\](y)',
      mattermost: '\\`code\\` \\*bold\\* \\~\\~no\\~\\~ \\\\\\[x\\\\\\]\\(y\\)',
      discord: '\\`code\\` \\*bold\\* \\~\\~no\\~\\~ \\\\\\[x\\\\\\]\\(y\\)',
      'microsoft-teams': '&#96;code&#96; &#42;bold&#42; &#126;&#126;no&#126;&#126; &#92;&#91;x&#92;&#93;&#40;y&#41;',
    },
  ],
]

describe.for(all)('texts of users in messages of %s', (slug) => {
  test.for(hostile)('%j has no meaning', ([title, expected]) => {
    expect(shown(slug, issueTitled(title)).details).toBe(expected[slug])
    expect(shown(slug, issueTitled(title)).summary).toContain(expected[slug])
    expect(shown(slug, issueTitled('x', title)).summary.startsWith(`${expected[slug]} `)).toBe(true)
  })

  test('line breaks, control characters and changes of direction become spaces', () => {
    const { summary, details } = shown(slug, issueTitled('one\r\n> two\u202e\u2066\0three\u2028four'))
    expect(`${summary} ${details}`).not.toMatch(/[\n\r\0\u202e\u2066\u2028]/)
    expect(details.replaceAll('\\', '').replaceAll('&gt;', '>').replaceAll('&#62;', '>')).toBe('one > two three four')
  })

  test('long texts are cut, so that a message stays below the maximum of its receiver', () => {
    const long = '*@'.repeat(100_000)
    const payload = issueTitled(long, long)
    const far = {
      ...project,
      path_with_namespace: `${'*'.repeat(5000)}/x`,
      web_url: `https://a.example/${'%'.repeat(5000)}`,
    }
    const { body, summary, details } = shown(slug, { ...payload, user: { name: long, username: long }, project: far })
    expect(body.length).toBeLessThan(28_000)
    if (slug === 'discord') expect(`${summary}\n${details}`.length).toBeLessThanOrEqual(4096)
    expect(summary.isWellFormed()).toBe(true)
  })

  test('a URL cannot end the link that contains it', () => {
    const payload = issueTitled('Title')
    payload.object_attributes.url = 'https://git.example/a)b|c>d<e"f g]h\u00e9'
    expect(shown(slug, payload).summary).toContain('https://git.example/a%29b%7Cc%3Ed%3Ce%22f%20g%5Dh%C3%A9')
  })
})

test('a message to Discord may notify no user or role', () => {
  expect(JSON.parse(shown('discord', issueTitled('x')).body).allowed_mentions).toEqual({ parse: [] })
})
