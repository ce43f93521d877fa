/** Plans from small to large; each offers what those before it offer. */
export const plans = ['free', 'starter', 'premium', 'ultimate'] as const

export type Plan = (typeof plans)[number]

/** The smallest plan that offers something; what is not marked, every plan offers. */
export type Tier = Exclude<Plan, 'free'>

export const planOffers = (plan: Plan, tier: Plan): boolean => plans.indexOf(plan) >= plans.indexOf(tier)

/** Whether `plan` has what is marked with `tier`, or not marked at all. */
export const isOffered = (tier: Tier | undefined, plan: Plan): boolean => tier === undefined || planOffers(plan, tier)
