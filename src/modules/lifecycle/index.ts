export { createFromPush, type Plan, planFromPush } from './project-creation/service.ts'
