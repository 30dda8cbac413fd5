/* SPDX-License-Identifier: Apache-2.0 */
/* The commit protocol of crawlstore, as a model for SPIN.
 *
 * WHAT IS MODELLED (the text is spec/commit.md)
 *   One writer at a time: open, step 0, ask for pins, allocate, write, sync, publish, sync,
 *   acknowledge; long builds; rollback from a whole and from a damaged generation.
 *   READERS readers: lock, read the superblocks again, use, let go.
 *   An environment that kills the writer, cuts the power, fails write-back, evicts pages and
 *   damages one directory, at any point and (FAILSYNC=n and DAMAGE apart) any number of times.
 *
 *   Not modelled: the looks of rule 16 that find another writer. Here the lock keeps it away, so a
 *   look could only end the writer, which a kill does at any point.
 *
 * THE ABSTRACTION
 *   Token       one attempt at a generation: its number and its directory. Two attempts at the same
 *               number are two tokens, so "the number returned with other content" is visible.
 *               Tokens are recycled when nothing names them.
 *   Directory   per extent one byte: unnamed, LIVE(born), DEAD(born, retired) or ROOT(generation).
 *               A generation is its root extent and one data extent, which a commit keeps,
 *               replaces, or replaces by a long build.
 *   Superblock  two slots of two copies (0, 1 even; 2, 3 odd generations): token and pass, or
 *               NONE = fails its checksum.
 *   Storage     `cache` is what every process reads; `disk` what power loss leaves. A copy is
 *               settled (both equal), dirty (the next sync writes it) or lost (a write-back failed:
 *               clean, still readable, not on disk, no sync will write it). What became of an
 *               unsettled copy is decided late: the new bytes, the old bytes or garbage.
 *               Extents need less: unsettled ones are garbage after a crash, the worst case, since
 *               no step reads them.
 *   `bad`       tokens of which an extent was overwritten or lost.
 *               A protected token must never be in it.
 *
 * INVARIANTS, checked after every step of every process (see `invariant` and `settle`)
 *   I1  A reader that uses a generation never sees one of its extents overwritten.
 *   I2  What may still be shown is whole: no extent is both live and free.
 *   I3  The superblocks always show the durable generation or the one published after it, and after
 *       acknowledgement, or after step 0 of a later writer, nothing else; through every crash,
 *       failed sync and eviction.
 *   I4  The previous generation, if the other slot shows it, is whole
 *       (readers pin it, rollback needs it).
 *   I5  A number never returns with other content once it was durable.
 *   I6  Each slot has a whole copy, unless a write-back failed: a slot without one shows damage.
 *
 * HOW TO RUN   tests/protocol/run_spin.py (CRAWLSTORE_LONG=1: more), or one configuration by hand:
 *   spin -a -DREADERS=2 -DGUESS commit.pml &&
 *   cc -O2 -DSAFETY -DCOLLAPSE -DNOREDUCE pan.c -o pan && ./pan -E -m500000
 *   spin -t -p -g commit.pml replays an error (same -D). Faults of the protocol are switched on
 *   with -DERR_...; each must be caught. With -DPRINTF pan prints "reached n" for the situations
 *   marked GOAL(n): a model that cannot get into trouble proves nothing. Partial order reduction is
 *   off: all state is shared.
 */
#ifndef READERS
#define READERS  1      /* 0..3 */
#endif
#ifndef LAST
#define LAST     4      /* the last generation; the store begins with generations 1 and 2:
                           LAST - 2 commits */
#endif
#ifndef EXTENTS
#define EXTENTS  6      /* at most 8; without space a commit fails */
#endif
#ifndef GRAIN
#define GRAIN    4      /* superblock copies that a reader reads in one step: 1, 2 or 4 */
#endif
/* GUESS      the reader's first read is a guess at any number: more behaviours in fewer states
 * FAILSYNC=n write-back fails up to n times (0: any number), and pages it lost are evicted
 * ROLLBACK, BUILD, DAMAGE (of the winner's directory, once)
 * NO_KILL, NO_TEAR (kills never leave half a copy) */
#define TOKENS   7

#define NONE      0
#define NOEXT     EXTENTS
#define BIT(n)    (1 << (n))
#define HAS(m, n) (((m) >> (n)) & 1)

/* ---- Directories ----------------------------------------------------------------------------- */

typedef Directory { byte gen; byte ext[EXTENTS] };
Directory dir[TOKENS + 1];
#define GEN(t)      dir[t].gen
#define LIVE(b)     ((b) << 4)
#define DEAD(b, r)  (((b) << 4) + (r))
#define ROOT(g)     (((g) << 4) + 15)
#define BORN(e)     ((e) >> 4)
#define RETIRED(e)  ((e) & 15)
#define IS_LIVE(e)  ((e) != 0 && ((e) & 15) == 0)
#define IS_ROOT(e)  (((e) & 15) == 15)
#define IS_DEAD(e)  (((e) & 15) != 0 && ((e) & 15) != 15)
#define USES(t, n)  (IS_LIVE(dir[t].ext[n]) || IS_ROOT(dir[t].ext[n]))

/* ---- Storage --------------------------------------------------------------------------------- */

#define COPY(t, p)  ((t) + ((p) << 4))
#define TOK(v)      ((v) & 15)
#define PASS(v)     ((v) >> 4)
#define SLOT(t)     (2 * (GEN(t) & 1))          /* its first copy; the second is SLOT(t) + 1 */
byte cache[4], disk[4];                         /* the superblock copies */
byte sb_dirty, sb_lost;                         /* bit per copy */
byte x_dirty, x_lost;                           /* bit per extent */
bit  must_fail;                                 /* write-back failed: the writer's next sync
                                                   reports it */
#define UNSETTLED(c) HAS(sb_dirty | sb_lost, c)

/* ---- Actors ---------------------------------------------------------------------------------- */

mtype = { CLOSED, OPENED, S0_SYNC0, S0_WRITE1, S0_SYNC1, S0_WRITE2, S0_SYNC2, S0_END,
          ASK_LOST, READY, WRITE, SYNC1, PUBLISH0, SYNC2, PUBLISH1, GIVE_UP };
mtype at = CLOSED;                              /* where the writer is; everything but CLOSED
                                                   holds the lock */
byte opened, base, new;                         /* tokens: the winner, what is built on (not the
                                                   winner if that is damaged), the next */
byte first, top_pass;                           /* step 0: copy to rewrite first, highest pass
                                                   seen */
byte mended = 4, best;                          /* copy of the other slot that becomes `best` */
byte root = NOEXT, data = NOEXT, build = NOEXT; /* extents to write, and the one of
                                                   the long build */
byte kind, back, taken, freeset;                /* of one step: kind of commit, rollback to,
                                                   extents not offered, offered */

#define R_IDLE   0
#define R_CHOSEN 1
#define R_LOCKED 2                              /* 2..5: locked, pc - R_LOCKED copies read */
#define R_USE    6
/* even, odd: best of each slot so far; `even` is what it uses */
typedef Reader { byte pc; byte pin; byte even; byte odd };
#if READERS > 0
Reader r[READERS];
#endif

byte durable, may_show, bad, damaged;           /* ghosts: a token, two sets of tokens, a token */
bit  broke;                                     /* ghost: a write-back failed */
bit  damage_done;

#ifdef ERR_SB_BEFORE_LOCK
byte early;                                     /* what the next writer read while this one held
                                                   the lock */
#define EARLY BIT(early)
#else
#define EARLY 0
#endif

/* Scratch. Not part of the state, and not restored on backtracking: never read across a choice. */
hidden byte i, j, k, x, y, old, win, other;
hidden short pins;
/* Scratch of atomic steps: set by plain statements only, which SPIN undoes. */
hidden byte me, target;
hidden short seen;                              /* goals reached, over the whole run */
#define GOAL(n) if :: !HAS(seen, n) -> seen = seen | BIT(n); printf("reached %d\n", n) :: else fi

/* The copy with the highest generation wins; the best of the other slot is `other`. */
inline choose(t0, t1) {
  if
  :: GEN(t0) > GEN(t1) -> win = t0; other = t1
  :: else              -> win = t1; other = t0
  fi
}
#define IS_PREV (other != NONE && GEN(win) == GEN(other) + 1)
inline look() {
  x = (GEN(TOK(cache[1])) > GEN(TOK(cache[0])) -> TOK(cache[1]) : TOK(cache[0]));
  y = (GEN(TOK(cache[3])) > GEN(TOK(cache[2])) -> TOK(cache[3]) : TOK(cache[2]));
  choose(x, y)
}

/* ---- Properties ------------------------------------------------------------------------------ */

inline invariant() {
#if READERS > 0
  for (i : 0 .. READERS - 1) {
    assert(r[i].pc != R_USE || !HAS(bad, r[i].even))                        /* I1 reader */
  }
#endif
  for (i : 1 .. TOKENS) {
    assert(!HAS(may_show, i) || !HAS(bad, i) || i == damaged)               /* I2 live and free */
  }
  look();
  assert(win != NONE && HAS(may_show, win));                                /* I3 shown */
  assert(!IS_PREV || !HAS(bad, other) || other == damaged);                 /* I4 previous */
  assert(win != damaged || IS_PREV);                                        /* I4 rescue */
  assert(broke || ((cache[0] != NONE || cache[1] != NONE) &&
                   (cache[2] != NONE || cache[3] != NONE)))                 /* I6 slots */
}
/* Token t is a promise now: acknowledged, or step 0 returned.
 * Whatever else was published is gone for good. */
inline settle(t) {
  assert(HAS(may_show, t));
  assert(t == durable || GEN(t) > GEN(durable));                            /* I5 numbers */
  durable = t; may_show = BIT(t)
}
/* Extent n got other bytes, which only token `except` expects. */
inline spoil(n, except) {
  for (i : 1 .. TOKENS) { if :: i != except && USES(i, n) -> bad = bad | BIT(i) :: else fi }
}

/* ---- One state for all that behave alike ----------------------------------------------------- */

inline swap(u, v) { x = u; u = v; v = x }
inline renumber(v) { if :: v == k -> v = k + 1 :: v == k + 1 -> v = k :: else fi }
inline swap_bits(m) { x = HAS(m, k) ^ HAS(m, k + 1); m = m ^ (x * (3 << k)) }

/* Names of extents mean nothing: keep them sorted by what the directories say. */
inline sort_extents() {
  k = 0;
  do
  :: k < EXTENTS - 1 ->
     i = 1;
     do
     :: i < TOKENS && dir[i].ext[k] == dir[i].ext[k + 1] -> i++
     :: else -> break
     od;
     if
     :: dir[i].ext[k] > dir[i].ext[k + 1] ->
        for (i : 1 .. TOKENS) { swap(dir[i].ext[k], dir[i].ext[k + 1]) }
        renumber(root); renumber(data); renumber(build);
        swap_bits(x_dirty); swap_bits(x_lost);
        k = (k > 0 -> k - 1 : 0)
     :: else -> k++
     fi
  :: else -> break
  od
}

/* Of passes only the order among equal tokens of a slot counts.
 * Not during step 0, which remembers one. */
#define ABOVE(v, w)       (TOK(v) == TOK(w) && PASS(v) > PASS(w))
#define RANK(v, a, b, c)  COPY(TOK(v), ABOVE(v, a) + ABOVE(v, b) + ABOVE(v, c))
inline rank(c) {
  x = RANK(cache[c], disk[c], cache[c + 1], disk[c + 1]);
  y = RANK(disk[c], cache[c], cache[c + 1], disk[c + 1]);
  k = RANK(cache[c + 1], cache[c], disk[c], disk[c + 1]);
  disk[c + 1] = RANK(disk[c + 1], cache[c], disk[c], cache[c + 1]);
  cache[c] = x; disk[c] = y; cache[c + 1] = k
}

#define KEY(n) (((r[n].pc * 16 + r[n].pin) * 8 + r[n].even) * 8 + r[n].odd)
inline order(m, n) {
  if
  :: KEY(m) > KEY(n) ->
     swap(r[m].pc, r[n].pc); swap(r[m].pin, r[n].pin);
     swap(r[m].even, r[n].even); swap(r[m].odd, r[n].odd)
  :: else
  fi
}

/* The end of every step: sort, forget what nothing names, check. */
inline finish() {
#if READERS > 1
  order(0, 1);
#endif
#if READERS > 2
  order(1, 2); order(0, 1);
#endif
  j = BIT(durable) | may_show | BIT(opened) | BIT(base) | BIT(new) | EARLY;
  for (i : 0 .. 3) { j = j | BIT(TOK(cache[i])) | BIT(TOK(disk[i])) }
#if READERS > 0
  for (i : 0 .. READERS - 1) { j = j | BIT(r[i].even) | BIT(r[i].odd) }
#endif
  bad = bad & j;
  if :: !HAS(j, damaged) -> damaged = NONE :: else fi;
  y = (build != NOEXT -> BIT(build) : 0);
  for (i : 1 .. TOKENS) {
    if
    :: HAS(j, i) -> for (x : 0 .. EXTENTS - 1) { if :: USES(i, x) -> y = y | BIT(x) :: else fi }
    :: !HAS(j, i) && GEN(i) != 0 -> GEN(i) = 0; for (x : 0 .. EXTENTS - 1) { dir[i].ext[x] = 0 }
    :: else
    fi
  }
  x_dirty = x_dirty & y; x_lost = x_lost & y;
  sort_extents();
  if :: at == CLOSED || at == ASK_LOST -> rank(0); rank(2) :: else fi;
  invariant()
}

/* ---- Storage steps --------------------------------------------------------------------------- */

inline write_copy(c, value) {                   /* an unsettled older write may have reached the
                                                   disk, or not */
  if
  :: disk[c] = cache[c]
  :: UNSETTLED(c) && disk[c] != cache[c]
  fi;
  d_step { cache[c] = value; sb_dirty = sb_dirty | BIT(c); sb_lost = sb_lost & ~BIT(c) }
}
inline write_extent(n, except) {
  spoil(n, except); x_dirty = x_dirty | BIT(n); x_lost = x_lost & ~BIT(n)
}
#if defined(ERR_NO_SYNC1)
#define DROPPED SYNC1
#elif defined(ERR_NO_SYNC2)
#define DROPPED SYNC2
#elif defined(ERR_STEP0_NO_SYNC)
#define DROPPED S0_SYNC1
#elif defined(ERR_STEP0_NO_SYNC0)
#define DROPPED S0_SYNC0
#elif defined(ERR_STEP0_NO_SYNC2)
#define DROPPED S0_SYNC2
#else
#define DROPPED CLOSED                          /* none */
#endif
#define FDATASYNC(step) (at == step && (at == DROPPED || !must_fail))
#define SYNC_FAILS      (at != DROPPED && must_fail)
inline fdatasync() {
  if
  :: at != DROPPED ->
     for (i : 0 .. 3) { if :: HAS(sb_dirty, i) -> disk[i] = cache[i] :: else fi }
     sb_dirty = 0; x_dirty = 0
  :: else
  fi
}
inline pages_lost() {
  broke = 1;
  sb_lost = sb_lost | sb_dirty; sb_dirty = 0;
  x_lost = x_lost | x_dirty; x_dirty = 0
}

/* ---- Writer ---------------------------------------------------------------------------------- */

#ifdef ERR_ASK_BEFORE_PUBLISH
short asked;                                    /* the answer to a question asked too early */
#define ASKED asked
#else
#define ASKED pins
#endif
#if defined(ERR_REUSE_EARLY)
#define LIMIT GEN(base)
#else
#define LIMIT (GEN(base) - 1)
#endif
#ifdef ERR_BORN_STRICT
#define HELD_FROM(e) (BORN(e) + 1)
#else
#define HELD_FROM(e) BORN(e)
#endif
#define HELD(e)    (ASKED & (BIT(RETIRED(e)) - 1) & ~(BIT(HELD_FROM(e)) - 1))
#define IS_FREE(e) ((e) == 0 || (IS_DEAD(e) && RETIRED(e) <= LIMIT && HELD(e) == 0))

inline ask_pins() {
  pins = 0;
#if READERS > 0
  for (i : 0 .. READERS - 1) { if :: r[i].pc >= R_LOCKED -> pins = pins | BIT(r[i].pin) :: else fi }
#endif
}
inline close_writer() {
  at = CLOSED; opened = NONE; base = NONE; new = NONE; first = 0; top_pass = 0;
  mended = 4; best = NONE;
  root = NOEXT; data = NOEXT; build = NOEXT; must_fail = 0
}

/* Extents that a commit on `base` may use.
 * Of those that no directory at all names, one stands for all. */
inline find_free() {
  ask_pins();
  freeset = 0; y = 0;
  for (j : 0 .. EXTENTS - 1) {
    x = 0;
    for (i : 1 .. TOKENS) { x = x | dir[i].ext[j] }
    if
    :: HAS(taken, j) || !IS_FREE(dir[base].ext[j]) || (x == 0 && y == 1) -> skip
    :: else -> freeset = freeset | BIT(j); if :: x == 0 -> y = 1 :: else fi
    fi
  }
}
inline pick(n) {                                /* any of freeset, or NOEXT */
  n = 0;
  do
  :: HAS(freeset, n) -> break
  :: (freeset >> (n + 1)) != 0 -> n++
  :: freeset == 0 -> n = NOEXT; break
  od;
  skip
}

#define KEEP_DATA 0
#define NEW_DATA  1
#define PUT_BUILD 2
#define ROLL_BACK 3

/* The directory of the next generation, from that of `base` (for a rollback also from `back`).
 * An entry that is free now is free for ever, so the list forgets it.
 * In a d_step the first guard that holds is taken. */
inline make_directory() {
  y = GEN(opened) + 1;
  new = 1 + y % TOKENS;
  do :: GEN(new) != 0 -> new = 1 + new % TOKENS :: else -> break od;
  for (j : 0 .. EXTENTS - 1) {
    old = dir[base].ext[j];
    if
    :: IS_ROOT(old) -> old = DEAD(GEN(base), y)
#ifdef ERR_ROLLBACK_BORN
    :: kind == ROLL_BACK && IS_LIVE(dir[back].ext[j]) -> old = LIVE(y)
#endif
#ifdef ERR_ROLLBACK_ROOT
    :: kind == ROLL_BACK && IS_ROOT(dir[back].ext[j]) -> old = 0
#endif
    :: kind == ROLL_BACK && IS_LIVE(dir[back].ext[j]) -> old = dir[back].ext[j]
    :: kind != KEEP_DATA && IS_LIVE(old) -> old = DEAD(BORN(old), y)
    :: IS_FREE(old) -> old = 0
    :: else
    fi;
    dir[new].ext[j] = old
  }
  GEN(new) = y; bad = bad & ~BIT(new);
  dir[new].ext[root] = ROOT(y); x_lost = x_lost & ~BIT(root);
  if
  :: data != NOEXT ->
     dir[new].ext[data] = LIVE(y);
     if :: data != build -> x_lost = x_lost & ~BIT(data) :: else fi
  :: else
  fi
}

proctype Writer() {
end:
  do
  :: atomic {
    if
    :: d_step { at == CLOSED ->                 /* the lock first, the superblocks after it */
         look(); opened = win; at = OPENED;
#ifdef ERR_SB_BEFORE_LOCK
         if :: early != NONE -> opened = early; early = NONE :: else fi;
#endif
#ifdef ERR_NO_STEP0
         base = opened; at = (opened == damaged -> GIVE_UP : ASK_LOST)
#endif
       }

    /* Step 0: make the winner durable.
     * A damaged winner is rolled back: the same for the generation before it. */
    :: d_step { at == OPENED ->
         look();
#ifdef ERR_SB_BEFORE_LOCK
         win = opened;
#endif
         base = (opened != damaged -> opened : (IS_PREV -> other : NONE));
         i = SLOT(base); j = i + 1;
         top_pass = (PASS(cache[i]) > PASS(cache[j]) -> PASS(cache[i]) : PASS(cache[j]));
         if
#ifdef ERR_BASE_FIRST
         :: TOK(cache[i]) != base && TOK(cache[i]) != NONE -> first = j
         :: TOK(cache[j]) != base && TOK(cache[j]) != NONE -> first = i
#endif
         :: TOK(cache[i]) != base -> first = i
         :: TOK(cache[j]) != base -> first = j
         :: else -> first = (PASS(cache[j]) > PASS(cache[i]) -> j : i)
         fi;
         k = 2 - i;                             /* of the other slot: the worse copy becomes the
                                                   better one */
         if
         :: GEN(TOK(cache[k])) < GEN(TOK(cache[k + 1])) -> mended = k; best = cache[k + 1]
         :: GEN(TOK(cache[k])) > GEN(TOK(cache[k + 1])) -> mended = k + 1; best = cache[k]
         :: else
         fi;
#ifdef ERR_ONE_COPY
         first = i;
#endif
#ifdef ERR_NO_MEND
         mended = 4;
#endif
         if
         :: win != opened -> close_writer()
         :: win == opened && base == NONE -> close_writer(); at = GIVE_UP
         :: win == opened && base != NONE && cache[2 - i] == NONE && cache[3 - i] == NONE ->
            close_writer(); at = GIVE_UP        /* a lost slot: refused */
         :: else -> at = S0_SYNC0
         fi }
    :: d_step { FDATASYNC(S0_SYNC0) -> fdatasync(); at = S0_WRITE1 }
    :: at == S0_WRITE1 -> write_copy(first, COPY(base, top_pass + 1)); at = S0_SYNC1
    :: d_step { FDATASYNC(S0_SYNC1) -> fdatasync(); at = S0_WRITE2 }
    :: at == S0_WRITE2 ->
#if defined(ERR_SAME_PASS)
       write_copy(first ^ 1, COPY(base, top_pass + 1));
#elif !defined(ERR_ONE_COPY)
       write_copy(first ^ 1, COPY(base, top_pass + 2));
#endif
       if
       :: mended < 4 -> write_copy(mended, best)
       :: else
       fi;
       at = S0_SYNC2
    :: d_step { FDATASYNC(S0_SYNC2) -> fdatasync(); at = S0_END }
    :: d_step { at == S0_END ->
         look();
         if
         :: win != opened -> close_writer()
         :: else ->
            if
            :: base == opened && opened != durable -> GOAL(0); settle(opened)
            :: base == opened && opened == durable ->
               if :: may_show != BIT(opened) -> GOAL(1) :: else fi;
               settle(opened)
            :: else -> may_show = may_show & (BIT(opened) | BIT(base))
            fi;
            first = 0; top_pass = 0; mended = 4; best = NONE; at = ASK_LOST
         fi }
    :: d_step { at == ASK_LOST ->               /* for a damaged winner: its own number too */
         ask_pins();
#ifdef ERR_ASK_BEFORE_PUBLISH
         asked = pins;
#endif
         if
#ifndef ERR_NO_LOST_ASK
         :: (pins >> (GEN(base) + 1)) != 0 -> close_writer(); GOAL(2)
#endif
         :: else -> at = READY
         fi }

    /* Step 1: choose what the commit does, ask for pins, allocate. */
    :: at == READY && GEN(opened) < LAST ->
       d_step {
         taken = (build != NOEXT -> BIT(build) : 0); find_free();
         look(); back = (IS_PREV && other != damaged -> other : NONE)
       };
       if
       :: kind = KEEP_DATA
       :: base == opened -> kind = NEW_DATA
#ifdef ROLLBACK
       :: base == opened && back != NONE -> kind = ROLL_BACK
#endif
#ifdef BUILD
       :: base == opened && build != NOEXT -> kind = PUT_BUILD; data = build
#endif
       fi;
       pick(root);
       if
       :: root != NOEXT && kind == NEW_DATA ->
          d_step { taken = taken | BIT(root); find_free() };
          pick(data)
       :: else
       fi;
       d_step {
         if
         :: root == NOEXT || (kind == NEW_DATA && data == NOEXT) ->
            root = NOEXT; data = NOEXT          /* no space */
         :: else ->
            if :: dir[base].ext[root] != 0 -> GOAL(3) :: else fi;
            if :: kind == ROLL_BACK -> GOAL(4) :: base != opened -> GOAL(5) :: else fi;
            make_directory(); at = WRITE
         fi;
         kind = 0; back = NONE; taken = 0; freeset = 0
       }
#ifdef BUILD
    /* A long build allocates and writes now, and is published by some later commit. */
    :: at == READY && build == NOEXT && base == opened ->
       d_step { find_free() };
       pick(build);
       d_step { if :: build != NOEXT -> write_extent(build, NONE) :: else fi; freeset = 0 }
#endif

    /* Steps 2 and 3: write, sync. */
    :: d_step { at == WRITE ->
         write_extent(root, new);
         if :: data != NOEXT && data != build -> write_extent(data, new) :: else fi;
         root = NOEXT; at = SYNC1 }
    :: d_step { FDATASYNC(SYNC1) -> fdatasync();
#ifdef ERR_ASK_BEFORE_PUBLISH
         ask_pins(); asked = pins;
#endif
         at = PUBLISH0 }
#ifdef ERR_GO_ON_AFTER_FAILSYNC
    :: d_step { at == SYNC1 && SYNC_FAILS ->    /* drop the transaction, go on with directory N */
         must_fail = 0; pages_lost(); new = NONE; data = NOEXT; at = READY;
         if :: base != opened -> close_writer() :: else fi }
#endif

    /* Steps 4 and 5: publish one copy, sync, publish the other, acknowledge. */
    :: at == PUBLISH0 ->
       may_show = may_show | BIT(new);
       write_copy(SLOT(new), COPY(new, 0));
       at = SYNC2
    :: d_step { FDATASYNC(SYNC2) -> fdatasync(); at = PUBLISH1 }
    :: at == PUBLISH1 ->
#if defined(ERR_ONE_COPY)
#elif defined(ERR_PUBLISH_PASS)
       write_copy(SLOT(new) + 1, COPY(new, 0));
#else
       write_copy(SLOT(new) + 1, COPY(new, 1));
#endif
       d_step {
         settle(new);
         if :: data != NOEXT && data == build -> build = NOEXT; GOAL(6) :: else fi;
         opened = new; base = new; new = NONE; data = NOEXT; at = READY }

    :: d_step { (at == S0_SYNC0 || at == S0_SYNC1 || at == S0_SYNC2 || at == SYNC2
#ifndef ERR_GO_ON_AFTER_FAILSYNC
                 || at == SYNC1
#endif
                ) && SYNC_FAILS ->
         pages_lost(); close_writer() }         /* poisoned: reopening decides */
    fi;
    d_step { finish() } }
  od
}

/* The copy that the writer is about to write, plus 8 if a reader is to find it half written. */
inline find_target() {
  if
  :: at == S0_WRITE1 -> target = first
  :: at == S0_WRITE2 -> target = first ^ 1
  :: at == PUBLISH0  -> target = SLOT(new)
  :: at == PUBLISH1  -> target = SLOT(new) + 1
  :: else            -> target = 4
  fi
}

/* ---- Readers --------------------------------------------------------------------------------- */

#ifdef ERR_ANY_SLOT
#define MAY_PIN_OTHER (other != NONE)
#else
#define MAY_PIN_OTHER IS_PREV
#endif
inline let_go(n) { r[n].pc = R_IDLE; r[n].pin = 0; r[n].even = NONE; r[n].odd = NONE }
inline use(t) {
  if
  :: t == damaged -> let_go(me)                 /* open fails and names rollback */
  :: else ->
     r[me].pc = R_USE; r[me].even = t; r[me].odd = NONE;
     if :: t != win -> GOAL(7) :: else fi
  fi
}
inline read_copy(c) {
  if
  :: target == c + 8 -> skip
  :: c < 2 -> if :: GEN(TOK(cache[c])) > GEN(r[me].even) -> r[me].even = TOK(cache[c]) :: else fi
  :: else  -> if :: GEN(TOK(cache[c])) > GEN(r[me].odd)  -> r[me].odd  = TOK(cache[c]) :: else fi
  fi
}

#if READERS > 0
proctype Readers() {
end:
  do
  :: atomic {
    if
    :: me = 0
#if READERS > 1
    :: me = 1
#endif
#if READERS > 2
    :: me = 2
#endif
    fi;
    if
#ifdef GUESS
    :: r[me].pc == R_IDLE ->
       r[me].pin = 1;
       do :: r[me].pin < LAST -> r[me].pin++ :: break od;
       r[me].pc = R_LOCKED
#else
    :: r[me].pc == R_IDLE ->                    /* the first read: the winner, or the generation
                                                   before it */
       d_step { look(); r[me].even = win; r[me].odd = (MAY_PIN_OTHER -> other : NONE) };
       if
       :: true
       :: r[me].odd != NONE -> r[me].even = r[me].odd
       fi;
       d_step {
         r[me].pin = GEN(r[me].even); r[me].odd = NONE; r[me].pc = R_CHOSEN;
#if !defined(ERR_NO_SECOND_READ) && !defined(ERR_ROOT_FROM_FIRST_READ) && !defined(ERR_LISTED)
         r[me].even = NONE                      /* only the number is kept */
#endif
       }
#endif
#if defined(ERR_NO_SECOND_READ)
    :: r[me].pc == R_CHOSEN -> d_step { win = r[me].even; use(r[me].even) }
#elif defined(ERR_ROOT_FROM_FIRST_READ)
    :: r[me].pc == R_CHOSEN -> r[me].pc = R_LOCKED
    :: r[me].pc == R_LOCKED ->
       d_step {
         look();
         if
         :: GEN(win) == r[me].pin || (IS_PREV && GEN(other) == r[me].pin) -> use(r[me].even)
         :: else -> let_go(me)
         fi }
#elif defined(ERR_LISTED)
    :: r[me].pc == R_CHOSEN -> r[me].pc = R_LOCKED
    :: r[me].pc == R_LOCKED ->
       d_step {
         look();
         y = 1;
         for (x : 0 .. EXTENTS - 1) {
           if :: USES(r[me].even, x) && dir[win].ext[x] == 0 -> y = 0 :: else fi
         }
         if :: y == 1 -> use(r[me].even) :: else -> let_go(me) fi }
#else
    :: r[me].pc == R_CHOSEN -> r[me].pc = R_LOCKED
    :: r[me].pc >= R_LOCKED && r[me].pc < R_USE ->
       find_target();
       if
       :: true
       :: target < 4 && target >= r[me].pc - R_LOCKED && target < r[me].pc - R_LOCKED + GRAIN ->
          target = target + 8
       fi;
       d_step {
         k = r[me].pc - R_LOCKED;
         r[me].pc = r[me].pc + GRAIN;
         for (j : k .. k + GRAIN - 1) { read_copy(j) }
         if
         :: r[me].pc == R_USE ->
            choose(r[me].even, r[me].odd);
            if
            :: win != NONE && GEN(win) == r[me].pin -> use(win)
            :: MAY_PIN_OTHER && GEN(other) == r[me].pin -> use(other)
            :: else -> let_go(me)
            fi
         :: else
         fi
       }
#endif
    :: r[me].pc == R_USE -> d_step { let_go(me) }
    fi;
    d_step { finish() } }
  od
}
#endif

/* ---- Environment ----------------------------------------------------------------------------- */

inline crash_copy(c) {                          /* the new bytes, the old ones, or garbage */
  if
  :: disk[c] = cache[c]
  :: UNSETTLED(c) -> cache[c] = disk[c]
  :: UNSETTLED(c) -> cache[c] = NONE; disk[c] = NONE
  fi
}

proctype Environment() {
#if FAILSYNC > 0
  byte fails;
#endif
end:
  do
  :: atomic {
    if
#ifndef NO_KILL
    :: at != CLOSED && at != OPENED ->          /* kill -9, perhaps in the middle of a pwrite */
       find_target();
       if
       :: true
#ifndef NO_TEAR
       :: target < 4 -> write_copy(target, NONE)
#endif
       fi;
       d_step { close_writer() }
#endif
    /* Power loss. With nothing unsettled it is a kill at which the readers let go. */
#ifndef NO_LOSS
    :: (sb_dirty | sb_lost | x_dirty | x_lost) != 0 ->
       crash_copy(0); crash_copy(1); crash_copy(2); crash_copy(3);
       d_step {
         for (j : 0 .. EXTENTS - 1) { if :: HAS(x_dirty | x_lost, j) -> spoil(j, NONE) :: else fi }
         sb_dirty = 0; sb_lost = 0; x_dirty = 0; x_lost = 0;
#if READERS > 0
         for (j : 0 .. READERS - 1) { let_go(j) }
#endif
         close_writer()
       }
#endif
#ifdef FAILSYNC
    /* Write-back fails, during a sync or before it.
     * If nobody holds the file open, nobody will be told. */
#if FAILSYNC > 0
    :: d_step { (sb_dirty | x_dirty) != 0 && fails < FAILSYNC ->
         fails++; pages_lost(); must_fail = (at != CLOSED) }
#else
    :: d_step { (sb_dirty | x_dirty) != 0 -> pages_lost(); must_fail = (at != CLOSED) }
#endif
    :: sb_lost != 0 ->                          /* a lost page is evicted: the cache shows
                                                   the disk */
       if
       :: HAS(sb_lost, 0) -> kind = 0
       :: HAS(sb_lost, 1) -> kind = 1
       :: HAS(sb_lost, 2) -> kind = 2
       :: HAS(sb_lost, 3) -> kind = 3
       fi;
       if :: cache[kind] = disk[kind] :: cache[kind] = NONE fi;
       d_step { disk[kind] = cache[kind]; sb_lost = sb_lost & ~BIT(kind); kind = 0 }
    :: d_step { x_lost != 0 ->
         for (j : 0 .. EXTENTS - 1) {
           if
           :: HAS(x_lost, j) && j != build -> spoil(j, NONE); x_lost = x_lost & ~BIT(j)
           :: else
           fi
         }
         skip }
#endif
#ifdef DAMAGE
    :: d_step { at == CLOSED && !damage_done ->
         look(); if :: IS_PREV -> damaged = win; damage_done = 1 :: else fi }
#endif
#ifdef ERR_SB_BEFORE_LOCK
    :: d_step { at != CLOSED && early == NONE -> look(); early = win }
#endif
    :: false
    fi;
    d_step { finish() } }
  od
}

init {
  d_step {
    dir[2].gen = 1; dir[2].ext[0] = ROOT(1); dir[2].ext[1] = LIVE(1);
    dir[3].gen = 2; dir[3].ext[0] = DEAD(1, 2); dir[3].ext[1] = LIVE(1); dir[3].ext[2] = ROOT(2);
    cache[0] = 3; cache[1] = 3; cache[2] = 2; cache[3] = 2;
    disk[0] = 3; disk[1] = 3; disk[2] = 2; disk[3] = 2;
    durable = 3; may_show = BIT(3);
    finish()
  };
  atomic {
    run Writer(); run Environment();
#if READERS > 0
    run Readers()
#endif
  }
}
