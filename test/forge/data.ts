/** A user of a fake forge. */
export type ForgeUser = {
  readonly id: number
  readonly login: string
  readonly full_name: string
  readonly email: string
}

export const forgeUser = (id: number, login: string, email = ''): ForgeUser => ({
  id,
  login,
  full_name: `Full ${login}`,
  email,
})

export type ForgeLabel = {
  readonly id: number
  readonly name: string
  readonly color: string
  readonly description: string
}

/** What a fake forge has, in a form of its own; a dialect shows it as a forge does. */
export type ForgeData = {
  users: ForgeUser[]
  labels: ForgeLabel[]
  milestones: { id: number; title: string; state: 'open' | 'closed'; due_on: string | null }[]
  issues: {
    number: number
    title: string
    body: string | null
    user: ForgeUser | null
    state: 'open' | 'closed'
    labels: ForgeLabel[]
    milestone: number | null
    assignees: ForgeUser[]
    closed_at: string | null
  }[]
  pulls: {
    number: number
    title: string
    body: string | null
    user: ForgeUser | null
    state: 'open' | 'closed'
    merged_at: string | null
    branch: string
    fork: ForgeUser | null
    labels: ForgeLabel[]
  }[]
  comments: { id: number; number: number; body: string; user: ForgeUser | null }[]
  reviews: { id: number; number: number; body: string; state: string; user: ForgeUser; comments: number[] }[]
  diffComments: {
    id: number
    number: number
    body: string
    user: ForgeUser
    path: string
    line: number | null
    reply: number | null
  }[]
  releases: { id: number; tag: string; name: string; body: string; draft: boolean; user: ForgeUser }[]
}

export const created = '2024-03-01T10:00:00Z'
export const updated = '2024-03-02T10:00:00Z'
export const merged = '2024-03-03T10:00:00Z'

/** A small repository with one of everything. Pull request 3 is open, 4 merged, 5 comes from a fork. */
export function smallForge(): ForgeData {
  const [ann, ben] = [forgeUser(1, 'ann-of-forge'), forgeUser(2, 'ben-of-forge')]
  const bug = { id: 1, name: 'bug', color: 'd73a4a', description: 'Something is wrong' }
  return {
    users: [ann, ben],
    labels: [bug, { id: 2, name: 'idea', color: 'a2eeef', description: '' }],
    milestones: [{ id: 1, title: 'Version 1', state: 'open', due_on: '2024-06-01T07:00:00Z' }],
    issues: [
      {
        number: 1,
        title: 'It is broken',
        body: 'Everywhere',
        user: ann,
        state: 'open',
        labels: [bug],
        milestone: 1,
        assignees: [ben],
        closed_at: null,
      },
      {
        number: 2,
        title: 'It was broken',
        body: null,
        user: ben,
        state: 'closed',
        labels: [],
        milestone: null,
        assignees: [],
        closed_at: updated,
      },
    ],
    pulls: [
      {
        number: 3,
        title: 'Mend it',
        body: 'Now',
        user: ann,
        state: 'open',
        merged_at: null,
        branch: 'mend',
        fork: null,
        labels: [bug],
      },
      {
        number: 4,
        title: 'Mended',
        body: '',
        user: ben,
        state: 'closed',
        merged_at: merged,
        branch: 'mended',
        fork: null,
        labels: [],
      },
      {
        number: 5,
        title: 'From afar',
        body: '',
        user: ben,
        state: 'open',
        merged_at: null,
        branch: 'main',
        fork: ben,
        labels: [],
      },
    ],
    comments: [
      { id: 11, number: 1, body: 'Where?', user: ben },
      { id: 12, number: 3, body: 'Good', user: ben },
      { id: 13, number: 1, body: 'There', user: ann },
    ],
    reviews: [
      { id: 21, number: 3, body: 'Well done', state: 'APPROVED', user: ben, comments: [] },
      { id: 22, number: 3, body: '', state: 'COMMENTED', user: ben, comments: [31, 32, 33] },
    ],
    diffComments: [
      { id: 31, number: 3, body: 'Why?', user: ben, path: 'lines.txt', line: 5, reply: null },
      { id: 32, number: 3, body: 'Because', user: ann, path: 'lines.txt', line: 5, reply: 31 },
      { id: 33, number: 3, body: 'Gone', user: ann, path: 'lines.txt', line: null, reply: null },
    ],
    releases: [
      { id: 41, tag: 'v1.0', name: 'First', body: 'All of it', draft: false, user: ann },
      { id: 42, tag: 'v2.0', name: 'Next', body: 'Soon', draft: true, user: ann },
    ],
  }
}

/** A repository with the given number of issues and pull requests, each with a comment. */
export function largeForge(issues: number, pulls: number): ForgeData {
  const data = smallForge()
  const [ann, ben] = [data.users[0]!, data.users[1]!]
  const numbers = Array.from({ length: issues + pulls }, (_, index) => index + 1)
  return {
    ...data,
    issues: numbers.slice(0, issues).map((number) => ({
      ...data.issues[number % 2]!,
      number,
      title: `Issue ${number}`,
      user: number % 3 === 0 ? ann : ben,
    })),
    pulls: numbers.slice(issues).map((number) => ({
      ...data.pulls[number % 2]!,
      number,
      title: `Pull ${number}`,
      branch: `topic-${number}`,
    })),
    comments: numbers.map((number) => ({ id: 1000 + number, number, body: `Comment on ${number}`, user: ben })),
    reviews: numbers.slice(issues).map((number) => ({
      id: 5000 + number,
      number,
      body: `Review of ${number}`,
      state: 'COMMENTED',
      user: ann,
      comments: [],
    })),
    diffComments: [],
  }
}
