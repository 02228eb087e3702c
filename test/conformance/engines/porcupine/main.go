// Checks histories of a job's row, a text's row and the fleet's budget by porcupine. Each line of standard input is a call
// ({"history","kind","id","at","in"}), what a call found on its way ({"history","id","late"}), or a response
// ({"history","id","at","out"}). A call without a response may have taken effect at any time, or never.
// Prints {"histories","operations","violations":[...],"undecided":[...]}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

type line struct {
	History string
	Kind    string
	ID      string
	At      int64
	In      *input
	Late    *late
	Out     *output
}

type history struct {
	kind  string
	calls map[string]*porcupine.Operation
	order []string
}

func read() map[string]*history {
	all := map[string]*history{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<26)
	for lines.Scan() {
		var each line
		// The last line of a killed process may be cut.
		if json.Unmarshal(lines.Bytes(), &each) != nil {
			continue
		}
		of := all[each.History]
		if of == nil {
			of = &history{calls: map[string]*porcupine.Operation{}}
			all[each.History] = of
		}
		call := of.calls[each.ID]
		switch {
		case each.In != nil:
			of.kind = each.Kind
			in := *each.In
			in.ID = each.ID
			of.calls[each.ID] = &porcupine.Operation{Input: in, Call: each.At, Output: (*output)(nil), Return: math.MaxInt64}
			of.order = append(of.order, each.ID)
		case call == nil:
		case each.Late != nil:
			in := call.Input.(input)
			in.Late = each.Late
			call.Input = in
		case each.Out != nil:
			call.Output = each.Out
			call.Return = each.At
		}
	}
	return all
}

type verdict struct {
	Histories  int      `json:"histories"`
	Operations int      `json:"operations"`
	Violations []string `json:"violations"`
	Undecided  []string `json:"undecided"`
}

// Checks the histories of these names, some at a time. Returns which are violations, and which took too long to say.
func check(all map[string]*history, names []string, workers int, limit time.Duration) (violations, undecided []string) {
	var lock sync.Mutex
	var running sync.WaitGroup
	queue := make(chan string)
	for range workers {
		running.Add(1)
		go func() {
			defer running.Done()
			for name := range queue {
				of := all[name]
				calls := make([]porcupine.Operation, 0, len(of.order))
				for _, id := range of.order {
					calls = append(calls, *of.calls[id])
				}
				result := porcupine.CheckOperationsTimeout(models[of.kind], calls, limit)
				lock.Lock()
				if result == porcupine.Illegal {
					violations = append(violations, name)
				} else if result == porcupine.Unknown {
					undecided = append(undecided, name)
				}
				lock.Unlock()
			}
		}()
	}
	for _, name := range names {
		queue <- name
	}
	close(queue)
	running.Wait()
	return violations, undecided
}

func main() {
	all := read()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	found := verdict{Histories: len(all), Violations: []string{}, Undecided: []string{}}
	for _, of := range all {
		found.Operations += len(of.order)
	}
	violations, undecided := check(all, names, runtime.NumCPU(), 20*time.Second)
	// A busy machine may have left a check no time: what is still undecided has a check to itself.
	more, undecided := check(all, undecided, 1, 80*time.Second)
	found.Violations = append(append(found.Violations, violations...), more...)
	found.Undecided = append(found.Undecided, undecided...)
	text, _ := json.Marshal(found)
	fmt.Println(string(text))
}
