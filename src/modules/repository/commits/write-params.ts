import { Optional, Text } from '../../../api/params/types.ts'

/** Contents travel in the body, in Base64 perhaps: what is larger is for git. */
export const maxContentBytes = 64 * 1024 * 1024

/** Far below what a commit is read with. */
export const maxMessageLength = 1_000_000

export const authorParams = {
  author_email: Optional(Text({ maxLength: 255, description: 'Default: that of the caller' })),
  author_name: Optional(Text({ maxLength: 255, description: 'Default: that of the caller' })),
} as const
