package main

import "github.com/anishathalye/porcupine"

// What the project's design promises of one row at a time, stated anew: it shares nothing with the code that it judges.

// input: what a caller asks. Times are milliseconds by the caller's own clock.
type input struct {
	ID, Op, By, Counts, Outcome, Status, Error, Own, Result string
	Now, Lease                                              int64
	Fence                                                   int
	MayRepeat, Sends, Alone, RequestSent, IsNamed, Executed bool
	Late                                                    *late
}

// late: the outcome that a claim found staged for a send; no outcome if it found none.
type late struct {
	Fence                  int
	Outcome, Status, Error string
}

type output struct {
	Kind, State, Result string
	Fence               int
	From, To            int64
}

type job struct {
	state, by, outcome, status, err           string
	fence, sent, earlier, deaths, deathsAlone int
	lease                                     int64
	cancelled, alone, resolved                bool
}

func (j job) ended() bool { return j.state == "DONE" || j.state == "FAILED" || j.state == "UNKNOWN" }
func (j job) heldBy(in input) bool {
	return j.state != "" && j.fence == in.Fence && j.by == in.By && j.lease != 0
}
func (j job) runsAgain() bool { return j.state == "FAILED" && j.err == "never-sent" && !j.cancelled }

func (j job) end(outcome, status, err string) job {
	j.state = map[string]string{"done": "DONE", "failed": "FAILED", "unknown": "UNKNOWN"}[status]
	j.outcome, j.status, j.err, j.lease = outcome, status, err, 0
	j.cancelled = j.cancelled && status != "done"
	return j
}

func (j job) unsend() job {
	j.sent, j.earlier = j.earlier, 0
	return j
}

func (j job) send() job {
	j.earlier, j.sent, j.state = j.sent, j.fence, "SENT"
	return j
}

// Its answer, the next state, and whether the job may be asked so now.
func (j job) step(in input) (job, output, bool) {
	say := func(kind string, next job) (job, output, bool) {
		return next, output{Kind: kind, State: next.state, Fence: next.fence}, true
	}
	switch in.Op {
	case "claim":
		return j.claim(in)
	case "sent":
		if !j.heldBy(in) {
			return say("lost", j)
		}
		if j.state == "SENT" {
			return say("sent", j)
		}
		return say("sent", j.send())
	case "renew":
		if !j.heldBy(in) {
			return say("lost", j)
		}
		next := j
		next.lease = max(j.lease, in.Now+in.Lease)
		return say("held", next)
	case "progress":
		if !j.heldBy(in) {
			return say("lost", j)
		}
		next := j
		next.deaths, next.deathsAlone, next.alone = 0, 0, false
		return say("held", next)
	case "release":
		onlySend := j.sent == in.Fence && j.earlier == 0
		switch {
		case j.state == "":
			next := job{state: "CLAIMED"}
			return say("released", next)
		case j.fence < in.Fence:
			return say("released", j)
		case j.fence != in.Fence || j.by != in.By:
			return say("lost", j)
		case j.state == "CLAIMED" && j.lease == 0:
			return say("released", j)
		case (j.state == "UNKNOWN" && onlySend && !in.RequestSent) || j.runsAgain():
			return say("called-unknown", j)
		case j.lease == 0:
			return say("lost", j)
		}
		next := j
		if j.state == "SENT" {
			next = next.unsend()
		}
		next.state, next.lease, next.deathsAlone, next.alone = "CLAIMED", 0, 0, false
		return say("released", next)
	case "end":
		if j.heldBy(in) {
			return say("ended", j.end(in.Outcome, in.Status, in.Error))
		}
		sender := j.sent == in.Fence
		switch {
		case j.ended() && (sender || j.fence == in.Fence) && j.outcome == in.Outcome:
			return say("ended", j)
		case j.state == "UNKNOWN" && sender && in.Status == "done":
			return say("called-unknown", j)
		}
		return say("lost", j)
	case "cancel":
		switch {
		case j.ended() && (j.state != "FAILED" || j.cancelled || j.err == "cancelled"):
			return say("ended", j)
		case j.ended():
			next := j
			next.cancelled = true
			return say("cancelled", next)
		case j.state == "SENT":
			return say("sent", j)
		}
		return say("cancelled", j.end("cancelled", "failed", "cancelled"))
	case "reopen":
		free := !j.cancelled && j.err != "cancelled" && (in.Executed || j.err != "execution")
		if j.state != "FAILED" || !(in.IsNamed || free) {
			return say("refused", j)
		}
		return say("reopened", job{state: "CLAIMED", by: j.by, fence: j.fence + 1})
	case "resolve":
		if j.resolved && j.status == in.Status {
			return say("resolved", j)
		}
		if j.state != "UNKNOWN" {
			return say("refused", j)
		}
		next := j.end("resolved "+in.Status, in.Status, map[bool]string{true: "resolved"}[in.Status == "failed"])
		next.resolved = true
		return say("resolved", next)
	}
	return say("read", j)
}

func (j job) claim(in input) (job, output, bool) {
	say := func(kind string, next job) (job, output, bool) {
		return next, output{Kind: kind, State: next.state, Fence: next.fence}, true
	}
	take := func(next job, alone bool) (job, output, bool) {
		next.state, next.by, next.lease, next.alone = "CLAIMED", in.By, in.Now+in.Lease, alone
		next.fence++
		if in.Sends {
			next = next.send()
		}
		return say("claimed", next)
	}
	if j.state == "" {
		return take(job{}, in.Alone)
	}
	open := j
	if j.runsAgain() {
		open.state, open.outcome, open.status, open.err = "CLAIMED", "", "", ""
	}
	if open.ended() && open.state != "UNKNOWN" {
		return say("ended", j)
	}
	if in.Sends && in.By != "" && open.by == in.By && open.lease != 0 {
		return say("claimed", j)
	}
	if in.Now < open.lease {
		return say("busy", j)
	}
	if open.sent != 0 {
		if in.Late == nil || in.Late.Fence != open.sent {
			return j, output{}, false
		}
		found := *in.Late
		isHolders := open.fence == open.sent && open.lease != 0
		if found.Error == "never-sent" {
			return say("ended", open.unsend().end(found.Outcome, found.Status, found.Error))
		}
		if found.Status != "" && (isHolders || found.Status == "done") {
			return say("ended", open.end(found.Outcome, found.Status, found.Error))
		}
	}
	if open.ended() {
		return say("ended", j)
	}
	if open.sent != 0 && !in.MayRepeat {
		return say("ended", open.end("answer-lost", "unknown", "answer-lost"))
	}
	next := open
	if open.lease != 0 {
		next.deaths++
		if open.alone {
			next.deathsAlone++
		}
	}
	switch {
	case next.deathsAlone >= 5:
		return say("ended", open.end("workers-died", "failed", "workers-died"))
	case next.deaths < 3:
		return take(next, false)
	case in.Alone:
		return take(next, true)
	}
	return say("alone", j)
}

// text: a text is sent only by the one who holds it, and its first result stays.
type text struct {
	state, holder, result string
	lease                 int64
	sends                 int
}

func (t text) step(in input) (text, output, bool) {
	say := func(kind string, next text) (text, output, bool) {
		return next, output{Kind: kind, Result: next.result}, true
	}
	isHeld := t.state == "SENT" && t.lease > in.Now
	owns := in.Own != "" && t.holder == in.Own
	switch in.Op {
	case "lookup":
		switch {
		case t.state == "SCORED":
			return say("scored", t)
		case isHeld:
			return say("held", t)
		}
		return say("open", t)
	case "send":
		switch {
		case t.state == "SCORED":
			return say("scored", t)
		case isHeld && !owns:
			return say("held", t)
		}
		return say("sent", text{state: "SENT", holder: in.ID, lease: in.Now + in.Lease, sends: t.sends + 1})
	case "finish":
		if t.state != "SCORED" {
			return say("scored", text{state: "SCORED", result: in.Result})
		}
		return say("scored", t)
	}
	// release, takeBack
	if !owns || t.state != "SENT" {
		return say("freed", t)
	}
	next := text{state: "FREE", sends: t.sends}
	if in.Op == "takeBack" {
		next.sends--
	}
	if next.sends == 0 {
		next = text{}
	}
	return say("freed", next)
}

// budget: a reservation begins where the last one ended, or later.
type budget struct{ to int64 }

func (b budget) step(_ input, heard *output) (budget, bool) {
	// What a reservation without a response took is not used by anyone: the line may only be further ahead.
	if heard == nil {
		return b, true
	}
	return budget{heard.To}, heard.From >= b.to && heard.To > heard.From
}

// respond makes a step that takes a response into account of one that says what the response must be.
func respond[S any](step func(S, input) (S, output, bool), isSame func(said, heard output) bool) func(S, input, *output) (S, bool) {
	return func(state S, in input, heard *output) (S, bool) {
		next, said, may := step(state, in)
		// A call without a response had its effect at some time, or none: that is what it has at the very end.
		if heard == nil && !may {
			return state, true
		}
		return next, heard == nil || (may && isSame(said, *heard))
	}
}

func modelOf[S comparable](step func(S, input, *output) (S, bool)) porcupine.Model {
	var none S
	return porcupine.Model{
		Init: func() any { return none },
		Step: func(state, in, out any) (bool, any) {
			next, isLegal := step(state.(S), in.(input), out.(*output))
			return isLegal, next
		},
		Equal: func(a, b any) bool { return a == b },
	}
}

var models = map[string]porcupine.Model{
	"job": modelOf(respond(job.step, func(said, heard output) bool {
		// Not every response has the row.
		isSameRow := heard.State == "" || (said.State == heard.State && said.Fence == heard.Fence)
		return said.Kind == heard.Kind && isSameRow
	})),
	"text": modelOf(respond(text.step, func(said, heard output) bool {
		return said.Kind == heard.Kind && (said.Kind != "scored" || said.Result == heard.Result)
	})),
	"pace": modelOf(budget.step),
}
