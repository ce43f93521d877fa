import { Type } from 'typebox'
import { instanceFacts, instancePolicy } from '../../../access/instance-policy.ts'
import { subject } from '../../../api/endpoint.ts'

/** Subject of endpoints whose path names no record. Loading it runs no statement. */
export const instance = subject({
  what: 'Service',
  params: Type.Object({}),
  policy: instancePolicy,
  visible: 'browse',
  load: async () => ({ facts: instanceFacts }),
})
