import { Type } from 'typebox'
import { instanceFacts, instancePolicy } from '../../../access/instance-policy.ts'
import { subject } from '../../../api/endpoint.ts'

/** The whole service, for endpoints whose path names nothing. Costs no statement. */
export const instance = subject({
  what: 'Service',
  params: Type.Object({}),
  policy: instancePolicy,
  visible: 'browse',
  load: async () => ({ facts: instanceFacts }),
})
