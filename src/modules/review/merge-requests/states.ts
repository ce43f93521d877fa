/** States of a merge request: `locked` while a merge is in progress. */
export const mergeRequestStates = ['opened', 'closed', 'locked', 'merged'] as const
export type MergeRequestState = (typeof mergeRequestStates)[number]

/** Results of the check whether a merge request can be merged. */
export const mergeStatuses = [
  'unchecked',
  'checking',
  'can_be_merged',
  'cannot_be_merged',
  'cannot_be_merged_recheck',
] as const
export type MergeStatus = (typeof mergeStatuses)[number]
