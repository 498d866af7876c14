// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	nef "github.com/Hexa08/NEF"
)

// negativeLogLikelihood is the loss of log probabilities [N, C, ...] and class numbers [N, ...].
func negativeLogLikelihood(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	loss, err := c.likelihoodLoss(c.x(0))
	if err != nil {
		return nil, err
	}
	return items(loss), nil
}

// softmaxCrossEntropy is that loss of scores; its second output are the log probabilities.
func softmaxCrossEntropy(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	logs := nef.LogSoftmax(c.x(0), 1)
	loss, err := c.likelihoodLoss(logs)
	return items(loss, logs), err
}

func (c *call) likelihoodLoss(logs *nef.Value) (*nef.Value, error) {
	reduction, err := c.string("reduction", "mean")
	if err != nil {
		return nil, err
	}
	ignore, err := c.int("ignore_index", -1)
	if err != nil {
		return nil, err
	}
	target, dtype := c.x(1), logs.DType()
	ignored := nef.Equal(target, scalar(target.DType(), float64(ignore)))
	if !c.has("ignore_index") {
		ignored = nil
	}
	class := target
	if ignored != nil {
		class = nef.Where(ignored, scalar(target.DType(), 0), target)
	}
	// Places from the end, which indices may be, are no classes.
	classes := nef.Reshape(nef.Cast(dimOf(logs, 1), target.DType()), []int{})
	inside := nef.And(nef.GreaterOrEqual(class, scalar(target.DType(), 0)), nef.Less(class, classes))
	if class, err = c.require(class, inside, "input 1, target (%s), must be a class of input 0, or ignore_index", c.inputName(1)); err != nil {
		return nil, err
	}
	loss := nef.Neg(nef.Squeeze(nef.GatherElements(logs, nef.Unsqueeze(class, []int{1}), 1), []int{1}))
	weight := expand(scalar(dtype, 1), nef.ShapeOf(target))
	if w := c.x(2); w != nil {
		weight = nef.Gather(w, class, 0)
	}
	if ignored != nil {
		weight = nef.Where(ignored, scalar(dtype, 0), weight)
	}
	loss = loss.Mul(weight)
	if ignored != nil {
		// Where the loss of class 0 is infinite, a weight of 0 would leave NaN.
		loss = nef.Where(ignored, scalar(dtype, 0), loss)
	}
	switch reduction {
	case "none":
		return loss, nil
	case "sum":
		return nef.ReduceSum(loss, nil, false), nil
	case "mean":
		return nef.ReduceSum(loss, nil, false).Div(nef.ReduceSum(weight, nil, false)), nil
	}
	return nil, invalid("reduction is %q, want none, sum or mean", reduction)
}
