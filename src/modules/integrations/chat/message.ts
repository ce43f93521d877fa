import { nullOid } from '../../../git/format/oid.ts'
import { encodedPath } from '../../../kernel/encoded-path.ts'

/* What a chat shows of an event: one model, which each format writes in its own way. */

/** Text of a user or of the service, which a format escapes, perhaps with a link to a page of the service. */
export type Part = string | { readonly text: string; readonly url: string }

export type Line = readonly Part[]

export type Mood = 'neutral' | 'good' | 'bad'

export type ChatMessage = {
  readonly summary: Line
  /** Lines below the summary. */
  readonly details: readonly Line[]
  readonly mood: Mood
}

/** Maximum characters of a name or title, and of an excerpt of a longer text. */
const [maxTitle, maxExcerpt] = [200, 500]
/** Maximum commits of a push that are listed. */
const maxCommits = 10

/** Characters that end a line, are not shown, or change the direction of the text around them. */
const unprintable = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

const cut = (text: string, maximum: number): string => {
  const characters = [...text]
  return characters.length <= maximum ? text : `${characters.slice(0, maximum - 1).join('')}…`
}

/** A text on one line, at most `maximum` characters. */
const short = (text: unknown, maximum = maxTitle): string =>
  cut(
    String(text ?? '')
      .slice(0, 4 * maximum)
      .toWellFormed()
      .replace(unprintable, ' ')
      .trim(),
    maximum,
  )

const link = (text: string, url: unknown): Part => ({ text: short(text), url: String(url) })

type Fields = Readonly<Record<string, any>>

const projectOf = ({ project }: Fields): Part => link(project.path_with_namespace, project.web_url)

const personOf = ({ user }: Fields): string => `${short(user.name)} (${short(user.username)})`

const excerptOf = (text: unknown): readonly Line[] => {
  const shown = short(text, maxExcerpt)
  return shown === '' ? [] : [[shown]]
}

const neutral = (summary: Line, details: readonly Line[] = []): ChatMessage => ({ summary, details, mood: 'neutral' })

/** A push of a branch or a tag. */
function push(payload: Fields): ChatMessage {
  const { ref, before, after, project, commits, total_commits_count: total } = payload
  const isTag = payload['object_kind'] === 'tag_push'
  const name = String(ref).replace(/^refs\/(heads|tags)\//, '')
  const noun = isTag ? 'tag' : 'branch'
  const tree = `${project.web_url}/-/${isTag ? 'tags' : 'tree'}/${encodedPath(name)}`
  const person = `${short(payload['user_name'])} (${short(payload['user_username'])})`
  if (after === nullOid) return neutral([`${person} removed ${noun} `, short(name), ' from ', projectOf(payload)])
  if (isTag)
    return neutral(
      [`${person} pushed tag `, link(name, tree), ' to ', projectOf(payload)],
      excerptOf(payload['message']),
    )
  const verb = before === nullOid ? 'pushed new branch' : 'pushed to branch'
  const compare = `${project.web_url}/-/compare/${before}...${after}`
  const shown = commits.slice(-maxCommits)
  const left = total - shown.length
  return neutral(
    [
      `${person} ${verb} `,
      link(name, tree),
      ' of ',
      projectOf(payload),
      ...(before === nullOid ? [] : [' (', link('Compare changes', compare), ')']),
    ],
    [
      ...shown.map(
        (commit: Fields): Line => [
          link(String(commit['id']).slice(0, 8), commit['url']),
          `: ${short(commit['title'])} - ${short(commit['author'].name)}`,
        ],
      ),
      ...(left > 0 ? [[`… and ${left} more commits`]] : []),
    ],
  )
}

const verbs: Readonly<Record<string, string>> = {
  open: 'opened',
  close: 'closed',
  reopen: 'reopened',
  merge: 'merged',
  approved: 'approved',
  unapproved: 'withdrew the approval of',
}

const planned =
  (sign: '#' | '!') =>
  (payload: Fields): ChatMessage => {
    const { iid, title, url, action, description, confidential } = payload['object_attributes']
    const noun = sign === '!' ? 'merge request' : confidential ? 'confidential issue' : 'issue'
    return neutral(
      [
        `${personOf(payload)} ${verbs[action] ?? 'updated'} ${noun} `,
        link(`${sign}${iid} ${short(title)}`, url),
        ' in ',
        projectOf(payload),
      ],
      action === 'open' ? excerptOf(description) : [],
    )
  }

function note(payload: Fields): ChatMessage {
  const { issue, merge_request: mr, snippet, commit } = payload
  const isHidden = payload['event_type'] === 'confidential_note'
  const about = issue
    ? `${isHidden ? 'confidential ' : ''}issue #${issue.iid}: ${short(issue.title)}`
    : mr
      ? `merge request !${mr.iid}: ${short(mr.title)}`
      : snippet
        ? `snippet ${snippet.id}: ${short(snippet.title)}`
        : `commit ${String(commit?.id ?? '').slice(0, 8)}: ${short(commit?.title)}`
  const { url, note: text } = payload['object_attributes']
  return neutral(
    [`${personOf(payload)} `, link('commented', url), ` on ${about} in `, projectOf(payload)],
    excerptOf(text),
  )
}

function pipeline(payload: Fields): ChatMessage {
  const { id, ref, tag, status, duration } = payload['object_attributes']
  const { project, commit } = payload
  const passed = status === 'success'
  const took = typeof duration === 'number' ? ` after ${Math.round(duration)} s` : ''
  return {
    summary: [
      'Pipeline ',
      link(`#${id}`, `${project.web_url}/-/pipelines/${id}`),
      ` of ${tag ? 'tag' : 'branch'} ${short(ref)} of `,
      projectOf(payload),
      ` by ${personOf(payload)} ${passed ? 'passed' : 'failed'}${took}`,
    ],
    details: commit ? [[link(String(commit.id).slice(0, 8), commit.url), `: ${short(commit.title)}`]] : [],
    mood: passed ? 'good' : 'bad',
  }
}

function wikiPage(payload: Fields): ChatMessage {
  const { title, url, action, message } = payload['object_attributes']
  const verb = { create: 'created', delete: 'deleted' }[String(action)] ?? 'edited'
  return neutral(
    [`${personOf(payload)} ${verb} `, link(short(title), url), ' in the wiki of ', projectOf(payload)],
    excerptOf(message),
  )
}

const messages: Readonly<Record<string, (payload: Fields) => ChatMessage>> = {
  push,
  tag_push: push,
  issue: planned('#'),
  merge_request: planned('!'),
  note,
  pipeline,
  wiki_page: wikiPage,
}

/** What a chat shows of the payload of a hook. */
export function messageOf(payload: Fields): ChatMessage {
  const of = messages[payload['object_kind']]
  if (!of) throw new Error(`no chat message for ${payload['object_kind']}`)
  return of(payload)
}
