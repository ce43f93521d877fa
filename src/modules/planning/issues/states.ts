export const issueStates = ['opened', 'closed'] as const
export type IssueState = (typeof issueStates)[number]
